import test from 'ava';
import {limits} from '../../api/limits.js';
import {formatUserPresence} from '../../api/user-system.js';
import {followUserSystems} from '../../server/user-systems.js';
import {ManualClock} from '../../system/time/manual-clock.js';

function aRegistry() {
	const clock = new ManualClock();
	const gone: string[] = [];
	let hear: (topic: string, payload: string) => void = () => undefined;
	let subscribed = 0;
	const systems = followUserSystems({
		clock,
		onGone: system => gone.push(system),
		pubsub: {
			subscribe(_filter, listener) {
				hear = listener;
				subscribed += 1;
				return () => (subscribed -= 1);
			},
		},
	});
	const say = (system: string, payload: string): void => {
		const [name = '', login = ''] = system.split('@');
		hear(`troupe/v1/users/${login}/${name}/presence`, payload);
	};
	const online = (system: string, boot = 'b'): void =>
		say(system, formatUserPresence({state: 'online', boot, sinceMs: 1, host: 'h', pid: 1, file: 'f'}));
	return {clock, gone, systems, say, online, subscribed: () => subscribed};
}

test('a system is there from its presence to its last will', t => {
	const {systems, gone, say, online} = aRegistry();
	online('pong@ann');
	online('ping@ann');
	t.deepEqual(systems.names(), ['ping@ann', 'pong@ann']);
	t.true(systems.has('ping@ann'));
	t.is(systems.presenceOf('ping@ann')?.host, 'h');
	say('ping@ann', '');
	t.deepEqual([systems.names(), gone], [['pong@ann'], ['ping@ann']]);
	say('ping@ann', '');
	t.deepEqual(gone, ['ping@ann']);
});

test('one that is not heard of any more is gone, too; one that says on that it is there stays', t => {
	const {systems, gone, online, clock} = aRegistry();
	online('dead@ann');
	online('alive@ann');
	for (let ms = 0; ms < limits.userSystemSilentMs + limits.userSystemPresenceMs; ms += limits.userSystemPresenceMs) {
		clock.advance(limits.userSystemPresenceMs);
		online('alive@ann');
	}
	t.deepEqual([systems.names(), gone], [['alive@ann'], ['dead@ann']]);
});

test('what is no presence, and who only asks for a name, is no system', t => {
	const {systems, say} = aRegistry();
	say('ping@ann', '{}');
	say('Ping@ann', formatUserPresence({state: 'online', boot: 'b', sinceMs: 1, host: 'h', pid: 1, file: 'f'}));
	say('ping@ann', formatUserPresence({state: 'asking', boot: 'b', sinceMs: 1, host: 'h', pid: 1, file: 'f'}));
	t.deepEqual(systems.names(), []);
});

test('a login has so many systems and no more, and takes the place of no other', t => {
	const {systems, online} = aRegistry();
	for (let at = 0; at < limits.userSystemsPerLogin + 5; at += 1) online(`s${at}@ann`);
	online('s0@bob');
	t.is(systems.names().filter(name => name.endsWith('@ann')).length, limits.userSystemsPerLogin);
	t.true(systems.has('s0@bob'));
	online('s0@ann', 'another boot');
	t.is(systems.presenceOf('s0@ann')?.boot, 'another boot');
});

test('of all logins together there are so many', t => {
	const {systems, online} = aRegistry();
	for (let login = 0; login * limits.userSystemsPerLogin <= limits.userSystems; login += 1)
		for (let at = 0; at < limits.userSystemsPerLogin; at += 1) online(`s${at}@l${login}`);
	t.is(systems.names().length, limits.userSystems);
});

test('closed, it listens no more and waits for nothing', t => {
	const {systems, online, clock, gone, subscribed} = aRegistry();
	online('ping@ann');
	systems.close();
	clock.advance(limits.userSystemSilentMs * 2);
	t.deepEqual([subscribed(), systems.names(), gone], [0, [], []]);
});
