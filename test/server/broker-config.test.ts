import {createHash, pbkdf2Sync} from 'node:crypto';
import test from 'ava';
import {topicMatches} from '../../api/mqtt-filter.js';
import {may, type Identity, type Role} from '../../api/roles.js';
import {brokerConfig} from '../../server/broker-config.js';
import {passwordField, passwordHash, tokenHash} from '../../server/mosquitto-hash.js';

const roles: readonly Role[] = ['admin', 'edit', 'view', 'tool', 'metrics', 'node', 'join'];
const logins = [...roles, 'node-2' as const].map(name => ({
	name: `its-${name}`,
	role: name === 'node-2' ? ('node' as const) : name,
	password: passwordField(tokenHash(`secret of ${name}`)),
	...(name === 'tool' ? {topics: {publish: ['sensors/#'], subscribe: ['alerts/+', 'a b/#']}} : {}),
}));

const config = brokerConfig({
	host: '127.0.0.1',
	port: 8883,
	passwordFile: '/etc/mosquitto/troupe.passwords',
	aclFile: '/etc/mosquitto/troupe.acl',
	tls: {certFile: '/tls/cert.pem', keyFile: '/tls/key.pem'},
	logins,
	controlPassword: passwordField(passwordHash('control')),
});

/** What an ACL file of Mosquitto allows a login, as mosquitto.conf(5) says. */
function allows(name: string, access: 'read' | 'write', topic: string): boolean {
	let user = '';
	return config.acl.split('\n').some(line => {
		const [word = '', first = '', ...more] = line.split(' ');
		const second = more.join(' ');
		if (word === 'user') user = first;
		if (word === 'pattern') return first === access && topicMatches(second.replaceAll('%u', name), topic);
		return word === 'topic' && user === name && ['readwrite', access].includes(first) && topicMatches(second, topic);
	});
}

/** Topics of every sort, by everybody and about everybody. */
const topics = ['control', ...logins.map(({name}) => name)].flatMap(name => [
	`objects/pods/default/${name}`,
	`objects/pods/${name}`,
	`events/default/pods/${name}`,
	`metrics/nodes/${name}`,
	`metrics/pods/default/${name}`,
	`nodes/${name}/presence`,
	`nodes/${name}/beat`,
	`nodes/${name}/metrics/cpu`,
	`nodes/${name}/other`,
	`actors/${name}/lifecycle/pods/web`,
	...['control', ...logins.map(each => each.name)].flatMap(to => [`actors/${to}/inbox/${name}`, `actors/${to}/bulk/${name}`]),
	...['presence', 'inbox/pong', 'from-control', 'to-control', 'other'].map(what => `users/${name}/ping/${what}`),
	`replies/${name}/1`,
	`inspect/requests/${name}/1`,
	`inspect/replies/${name}/1`,
	`functions/default/${name}/invoke`,
	`history/runs/default/${name}`,
	`runs/default/${name}/answer`,
	`canary/${name}`,
]);

test('the rights of every login are those of its role, topic by topic', t => {
	for (const {name, role, topics: rights} of logins) {
		const identity: Identity = role === 'node' ? {name, role, node: name} : {name, role, topics: rights};
		for (const topic of ['sensors', 'sensors/a/b', 'alerts/a', 'alerts/a/b', 'a b/c', 'other', 'troupe/other', '/a']) {
			// All topics but those of Troupe are nothing that an ACL can say: an admin has what its token names.
			if (role === 'admin') continue;
			t.is(allows(name, 'write', topic), may(identity, 'publish', topic), `${name} writes ${topic}`);
			t.is(allows(name, 'read', topic), may(identity, 'forward', topic), `${name} reads ${topic}`);
		}
		// Control is not told who has published: nobody calls functions there.
		for (const rest of topics.filter(each => !/^(functions|replies)\//.test(each))) {
			const topic = `troupe/v1/${rest}`;
			t.is(allows(name, 'write', topic), may(identity, 'publish', topic), `${name} writes ${topic}`);
			// `nodes/#` is granted as a whole: what is not known there is written by nobody.
			if (role === 'join' || role === 'metrics' || /\/(other|metrics\/cpu)$/.test(rest)) continue;
			t.is(allows(name, 'read', topic), may(identity, 'forward', topic), `${name} reads ${topic}`);
		}
	}
	t.true(
		allows('control', 'write', 'troupe/v1/objects/pods/default/web') &&
			allows('control', 'read', 'troupe/v1/actors/control/inbox/its-node'),
	);
	t.true(allows('control', 'read', 'sensors/a') && allows('control', 'write', 'dead/letters'));
	t.false(allows('control', 'read', '$SYS/broker/version'));
	t.false(allows('its-admin', 'read', '$SYS/broker/version'));
});

test('every login that may connect has a line in the password file, and control is first', t => {
	const names = config.passwords
		.trimEnd()
		.split('\n')
		.slice(1)
		.map(line => line.split(':')[0]);
	t.deepEqual(names, ['control', 'its-admin', 'its-edit', 'its-node', 'its-node-2', 'its-tool', 'its-view']);
	t.notRegex(config.passwords, /secret/);
});

test('a password is kept as Mosquitto keeps one: PBKDF2 of SHA-512, its salt and count beside it', t => {
	const [empty, version, count, salt = '', hash = ''] = passwordField(passwordHash('a password')).split('$');
	t.deepEqual([empty, version], ['', '7']);
	const saltBytes = Buffer.from(salt, 'base64');
	t.is(saltBytes.length, 12);
	t.is(pbkdf2Sync('a password', saltBytes, Number(count), 64, 'sha512').toString('base64'), hash);
});

test('a token, which nobody guesses, is kept by the quick hash that Mosquitto has: SHA-512 of it and its salt', t => {
	const [empty, version, salt = '', hash = ''] = passwordField(tokenHash('a token')).split('$');
	t.deepEqual([empty, version], ['', '6']);
	const saltBytes = Buffer.from(salt, 'base64');
	t.is(saltBytes.length, 12);
	t.is(createHash('sha512').update('a token').update(saltBytes).digest('base64'), hash);
});

test('the settings refuse anonymous clients, name the files and bound what waits', t => {
	for (const line of [
		'listener 8883 127.0.0.1',
		'certfile /tls/cert.pem',
		'keyfile /tls/key.pem',
		'allow_anonymous false',
		'password_file /etc/mosquitto/troupe.passwords',
		'acl_file /etc/mosquitto/troupe.acl',
		'max_packet_size 1572864',
		'persistence false',
		'set_tcp_nodelay true',
	])
		t.true(config.conf.split('\n').includes(line), line);
});
