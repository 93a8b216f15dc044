import {
	chmodSync,
	existsSync,
	mkdirSync,
	readFileSync,
	readdirSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {VolumeSource, VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import {makeFifos} from '../../agent/process/attempts/stock.js';
import {failed, succeeded} from '../../api/errors.js';
import {asOther} from '../_needing.js';
import {processWorld, type ProcessWorld} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';

const encoded = (text: string): string => Buffer.from(text).toString('base64');

const secrets: NodeSecrets = {
	open({name}, done) {
		if (name === 'absent') done(failed('ERR_CONFIG_MISSING', {message: 'secret "absent" not found'}));
		else if (name === 'far') done(failed('ERR_NOT_REACHABLE', {message: 'no server answers'}));
		else done(succeeded({user: encoded('ada'), password: encoded('geheim')}));
	},
	retain: (_keys, done) => done(succeeded(null)),
};

async function podOf(t: ExecutionContext, options: Parameters<typeof processWorld>[1] = {}) {
	const world: ProcessWorld = processWorld(clean => t.teardown(clean), {secrets, ...options});
	const calls = driver(world);
	await calls.ensure('uid-1');
	const make = (volumes: readonly VolumeSpec[], fsGroup?: number) =>
		calls.run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'uid-1', namespace: 'default', volumes, fsGroup});
	/** Of one volume, as whoever runs the agent sees it. */
	const placeOf = (name: string): string =>
		[path.join(world.directory, 'uid-1', '.volumes', name, 'data'), path.join(world.directory, '.memory', 'uid-1', name)].find(
			existsSync,
		) ?? '';
	return {...calls, world, make, placeOf};
}

const reasonOf = (outcome: {ok: true} | {ok: false; error: {code: string; message: string}}): string =>
	outcome.ok ? 'it was made' : `${outcome.error.code} ${outcome.error.message}`;

const secret = (rest: Partial<Extract<VolumeSource, {type: 'secret'}>> = {}, name = 'login'): VolumeSource => ({
	type: 'secret',
	ref: {secret: name, version: '1', optional: false},
	items: undefined,
	mode: 0o644,
	...rest,
});

const files = (entries: Readonly<Record<string, string>>): VolumeSource => ({
	type: 'files',
	files: Object.entries(entries).map(([name, text]) => ({path: name, mode: 0o644, data: encoded(text)})),
});

const scratch: VolumeSource = {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined};

test('files of a ConfigMap are there and follow it', async t => {
	const {make, value, placeOf} = await podOf(t);
	await value(make([{name: 'conf', source: files({a: '1'})}]));
	t.is(readFileSync(path.join(placeOf('conf'), 'a'), 'utf8'), '1');
	await value(make([{name: 'conf', source: files({a: '2'})}]));
	t.is(readFileSync(path.join(placeOf('conf'), 'a'), 'utf8'), '2');
});

test('each entry of a Secret is a file, or those that are named', async t => {
	const {make, value, placeOf} = await podOf(t);
	const items = [{key: 'password', path: 'deep/word', mode: 0o400}];
	await value(
		make([
			{name: 'all', source: secret()},
			{name: 'some', source: secret({items})},
		]),
	);
	t.deepEqual(
		readdirSync(placeOf('all'))
			.filter(name => !name.startsWith('..'))
			.sort(),
		['password', 'user'],
	);
	t.is(readFileSync(path.join(placeOf('some'), 'deep/word'), 'utf8'), 'geheim');
	t.is(statSync(path.join(placeOf('some'), 'deep/word')).mode & 0o777, 0o400);
});

test('a Secret or an entry that is not there is told as such, unless it is optional', async t => {
	const {make, value, placeOf} = await podOf(t);
	const one = (source: VolumeSource): readonly VolumeSpec[] => [{name: 'v', source}];
	t.is(reasonOf(await make(one(secret({}, 'absent')))), 'ERR_CONFIG_MISSING volume "v": secret "absent" not found');
	const items = [{key: 'gone', path: 'x', mode: 0o400}];
	t.is(reasonOf(await make(one(secret({items})))), `ERR_CONFIG_MISSING volume "v": couldn't find key gone in Secret default/login`);
	t.regex(reasonOf(await make(one(secret({}, 'far')))), /^ERR_NOT_REACHABLE /);
	const optional = {ref: {secret: 'absent', version: '1', optional: true}};
	await value(make(one(secret(optional))));
	t.deepEqual(
		readdirSync(placeOf('v')).filter(name => !name.startsWith('..')),
		[],
	);
});

test('no file of a volume leads anywhere else', async t => {
	const {make} = await podOf(t);
	for (const wrong of ['../x', '/etc/x', 'a/../../x', '', '..data', 'a\0'])
		t.regex(reasonOf(await make([{name: 'v', source: files({[wrong]: ''})}])), /^ERR_BAD_REQUEST .*must lead down/, wrong);
});

test('a volume’s name becomes a folder, so nothing else than a name is taken', async t => {
	const {make} = await podOf(t);
	t.regex(reasonOf(await make([{name: '../../x', source: scratch}])), /^ERR_BAD_REQUEST /);
});

test('what programs put into an emptyDir stays there', async t => {
	const {make, value, placeOf} = await podOf(t);
	await value(make([{name: 's', source: scratch}]));
	mkdirSync(path.join(placeOf('s'), 'theirs'));
	await value(make([{name: 's', source: scratch}]));
	t.deepEqual(readdirSync(placeOf('s')), ['theirs']);
	t.is(statSync(placeOf('s')).mode & 0o777, 0o777);
});

test('an emptyDir that an agent did not come to open to its programs is opened', async t => {
	const {make, value, placeOf, world} = await podOf(t);
	mkdirSync(path.join(world.directory, 'uid-1', '.volumes', 'tmp', 'data.new'), {recursive: true, mode: 0o700});
	await value(make([{name: 'tmp', source: scratch}]));
	t.is(statSync(placeOf('tmp')).mode & 0o777, 0o777);
	t.deepEqual(readdirSync(path.join(world.directory, 'uid-1', '.volumes', 'tmp')).sort(), ['data', 'volume.json']);
});

test('a path of the host is refused unless the operator allows it', async t => {
	const {make} = await podOf(t);
	const source: VolumeSource = {type: 'hostPath', path: '/etc', check: 'Directory'};
	t.regex(reasonOf(await make([{name: 'h', source}])), /^ERR_RUNTIME volume "h": hostPath "\/etc" is not allowed .*--host-paths/);
});

test('the agent’s own folder is never a volume, though all is allowed', async t => {
	const {make, world} = await podOf(t, {hostPaths: {allowed: 'all', never: []}});
	const source: VolumeSource = {type: 'hostPath', path: path.join(world.directory, 'uid-1'), check: ''};
	t.regex(reasonOf(await make([{name: 'h', source}])), /in the folder of Troupe itself/);
});

test('a volume goes whatever a program has made in it, and nobody waits for that', async t => {
	const {make, value, placeOf, remove, world} = await podOf(t);
	await value(make([{name: 'scratch', source: scratch}]));
	const place = placeOf('scratch');
	// Deeper than a path can say, wide, with a FIFO, a name that is no text, a folder closed to its owner and a way out.
	const deep = path.join(place, 'deep');
	const around = path.join(place, 'around');
	mkdirSync(deep);
	for (let round = 0; round < 2; round++) {
		mkdirSync(path.join(around, 'd/'.repeat(1_500)), {recursive: true});
		renameSync(deep, path.join(around, 'd/'.repeat(1_500), 'deep'));
		renameSync(around, deep);
	}
	makeFifos([path.join(place, 'fifo')]);
	writeFileSync(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0xff, 10])]), '');
	for (let count = 0; count < 1_000; count++) symlinkSync('/etc/passwd', path.join(place, String(count)));
	mkdirSync(path.join(place, 'closed'));
	mkdirSync(path.join(place, 'closed', 'inner'));
	chmodSync(path.join(place, 'closed'), 0);
	let longestMs = 0;
	let lastMs = performance.now();
	const ticks = setInterval(() => {
		longestMs = Math.max(longestMs, performance.now() - lastMs);
		lastMs = performance.now();
	}, 1);
	await remove('uid-1');
	clearInterval(ticks);
	t.false(existsSync(path.join(world.directory, 'uid-1')));
	t.true(existsSync('/etc/passwd'));
	t.true(longestMs < 1_000, `${longestMs} ms`);
});

test('volumes go with the sandbox, and what a volume shows of the host stays', async t => {
	const {make, value, remove, world} = await podOf(t, {hostPaths: {allowed: 'all', never: []}});
	const host = `${world.directory}-host`;
	const source: VolumeSource = {type: 'hostPath', path: host, check: 'DirectoryOrCreate'};
	t.teardown(() => rmSync(host, {recursive: true, force: true}));
	await value(
		make([
			{name: 'h', source},
			{name: 's', source: scratch},
			{name: 'k', source: secret()},
		]),
	);
	await remove('uid-1');
	t.deepEqual(
		readdirSync(world.directory).filter(name => !['.stock', '.users'].includes(name)),
		[],
	);
	t.true(existsSync(host));
	t.false(readFileSync('/proc/self/mountinfo', 'utf8').includes(world.directory));
});

test('there are no volumes for a pod that is being removed', async t => {
	const {make, remove, world} = await podOf(t);
	const removed = remove('uid-1');
	t.regex(reasonOf(await make([{name: 's', source: scratch}])), /is being removed/);
	await removed;
	t.regex(reasonOf(await make([{name: 's', source: scratch}])), /ERR_NOT_FOUND/);
	t.false(existsSync(path.join(world.directory, 'uid-1')));
});

asOther('an agent that is no root and has no user namespaces says that it mounts nothing, and why', async t => {
	const {make, value, run, world} = await podOf(t, {namespaces: null});
	t.false(world.runtime().info().features.includes('volumes'));
	await value(make([{name: 's', source: scratch}]));
	const mounts = [{volume: 's', path: '/data', subPath: undefined, readOnly: false}];
	const started = await run<'container.start'>({type: 'container.start', spec: aContainer('runs', {mounts})});
	t.regex(reasonOf(started), /cannot start: it asks for volumes, and this node gives an agent that is not root no user namespaces/);
	const memory: VolumeSource = {type: 'emptyDir', inMemory: true, sizeLimitBytes: undefined};
	t.regex(reasonOf(await make([{name: 'm', source: memory}])), /medium Memory needs an agent that is root/);
});
