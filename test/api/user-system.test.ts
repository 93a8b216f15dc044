import test from 'ava';
import {formatUserPresence, formatUserSystem, parseUserPresence, parseUserSystem, type UserPresence} from '../../api/user-system.js';

test("a user's system is called by its name and its login, as no node can be", t => {
	t.is(formatUserSystem({name: 'ping', login: 'ann'}), 'ping@ann');
	t.deepEqual(parseUserSystem('ping@ann'), {name: 'ping', login: 'ann'});
	for (const text of [
		'control',
		'node-a',
		'a.b',
		'',
		'@',
		'ping@',
		'@ann',
		'a@b@c',
		'Ping@ann',
		'a/b@ann',
		'a.b@ann',
		`${'x'.repeat(64)}@ann`,
	])
		t.is(parseUserSystem(text), undefined, text);
});

const presence: UserPresence = {state: 'online', boot: 'b1', sinceMs: 5, host: 'desk', pid: 7, file: 'ping.mjs'};

test("a presence of a user's system is read back as it was said, and nothing else is one", t => {
	t.deepEqual(parseUserPresence(formatUserPresence(presence)), presence);
	const others: readonly object[] = [
		{...presence, state: 'offline'},
		{...presence, boot: ''},
		{...presence, boot: 'x'.repeat(256)},
		{...presence, host: 1},
		{...presence, pid: -1},
		{...presence, pid: 0.5},
		{...presence, sinceMs: '1'},
		{...presence, file: 'x'.repeat(256)},
		[],
	];
	for (const other of others) t.is(parseUserPresence(JSON.stringify(other)), undefined, JSON.stringify(other));
	for (const text of ['', '{', 'null']) t.is(parseUserPresence(text), undefined, text);
});
