import {appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {hostUsersIn} from '../../agent/process/users/host-users.js';
import {
	defaultUserRange,
	isPodUser,
	openPodUsers,
	parseUserRange,
	type PodUsers,
	type UserRange,
} from '../../agent/process/users/pod-users.js';
import {startNotes} from '../../agent/process/host/start-notes.js';
import {limits} from '../../api/limits.js';

function nodeOf(t: ExecutionContext, range: UserRange = {first: 5_000, last: 5_002}) {
	const directory = mkdtempSync(path.join(os.tmpdir(), 'troupe-users-'));
	t.teardown(() => rmSync(directory, {recursive: true}));
	const warnings: string[] = [];
	const open = (now = range): PodUsers => openPodUsers(directory, now, warning => warnings.push(warning));
	return {open, warnings, record: path.join(directory, '.users')};
}

test('each controller has a user of its own, of the same number as its group', t => {
	const users = nodeOf(t).open();
	t.deepEqual(users.take('a/ReplicaSet/web'), {uid: 5_000, gid: 5_000});
	t.deepEqual(users.take('b/ReplicaSet/web'), {uid: 5_001, gid: 5_001});
	t.deepEqual(users.take('a/ReplicaSet/web'), {uid: 5_000, gid: 5_000});
});

test('one that comes back has the user it had, also after the agent was started again', t => {
	const {open, warnings} = nodeOf(t);
	const users = open();
	users.take('a');
	t.is(users.take('b').uid, 5_001);
	users.release('a');
	t.is(users.take('c').uid, 5_002);
	t.is(users.take('a').uid, 5_000);
	users.release('b');
	t.is(open().take('b').uid, 5_001);
	t.deepEqual(warnings, []);
});

test('a bit of the record that has changed gives no controller the user of another', t => {
	const {open, record} = nodeOf(t, {first: 5_000, last: 5_009});
	const users = open();
	const [b, a] = ['b', 'a'].map(name => users.take(name));
	const text = readFileSync(record, 'utf8');
	writeFileSync(record, text.replace('"a",5001', '"a",5000'));
	const later = open();
	t.is(later.claim('a', a ?? t.fail()).uid, 5_001);
	t.is(later.claim('b', b ?? t.fail()).uid, 5_000);
	writeFileSync(record, text.replaceAll(/,"\w+"\]/g, ']'));
	t.is(open().take('a').uid, 5_001, 'as an older version wrote it');
});

test('a user is given to another only when none is unused, and the longest unused goes first', t => {
	const {open} = nodeOf(t);
	const users = open();
	for (const name of ['a', 'b', 'c']) users.take(name);
	t.throws(() => users.take('d'), {
		message: 'all 3 users from 5000 to 5002 are in use by pods of other controllers: give this node more (--pod-users FIRST-LAST)',
	});
	for (const name of ['b', 'a', 'c']) users.release(name);
	const later = open();
	t.is(later.take('d').uid, 5_001);
	t.is(later.take('b').uid, 5_000);
	t.is(later.take('c').uid, 5_002);
	t.throws(() => later.take('a'));
});

test('the longest unused is the one that was given back first, not the one that was given out first', t => {
	const users = nodeOf(t, {first: 5_000, last: 5_001}).open();
	t.is(users.take('a').uid, 5_000);
	t.is(users.take('b').uid, 5_001);
	users.release('b');
	users.release('a');
	t.is(users.take('c').uid, 5_001);
	t.is(users.take('d').uid, 5_000);
});

test('one of two pods that goes leaves the user to the other', t => {
	const users = nodeOf(t, {first: 5_000, last: 5_000}).open();
	users.take('a');
	users.take('a');
	users.release('a');
	t.throws(() => users.take('b'));
	users.release('a');
	t.is(users.take('b').uid, 5_000);
});

test('what pods have is theirs, whatever the record says, and another range is for those that come', t => {
	const {open, record} = nodeOf(t);
	open().take('a');
	rmSync(record);
	const users = open();
	users.claim('a', {uid: 5_000, gid: 5_000});
	t.is(users.take('b').uid, 5_001);
	const elsewhere = open({first: 9_000, last: 9_001});
	elsewhere.claim('a', {uid: 5_000, gid: 5_000});
	t.is(elsewhere.take('a').uid, 5_000);
	t.is(elsewhere.take('b').uid, 9_000);
});

test('damaged lines are no entries, and the line after one is whole', t => {
	const {open, record} = nodeOf(t);
	open().take('a');
	appendFileSync(record, '\n["b",0]\n["b",4294967295]\n["c","x"]\n[]\n["d",50');
	t.is(open().take('b').uid, 5_001);
	const users = open();
	t.is(users.take('b').uid, 5_001);
	t.is(users.take('c').uid, 5_002);
});

test('the record does not grow with the pods that come and go, nor with the length of names', t => {
	const {open, record} = nodeOf(t);
	const users = open();
	const name = `default/X/${'x'.repeat(100_000)}`;
	for (let round = 0; round < limits.podUserLines + 10; round++) {
		users.take(name);
		users.release(name);
	}
	const size = readFileSync(record, 'utf8').length;
	t.true(size < 2 * limits.podUserLines * 100 && size > 0, String(size));
	t.is(open().take(name).uid, 5_000);
});

test('a range is refused that belongs to others', t => {
	t.deepEqual(parseUserRange('200000-265535'), {first: 200_000, last: 265_535});
	for (const [text, why] of [
		['x', /must be FIRST-LAST/],
		['5', /must be FIRST-LAST/],
		['999-2000', /must begin at 1000 or above/],
		['2000-1999', /must not end before it begins/],
		['60000-70000', /65534 or 65535/],
		['2147480000-2147483647', /must end at 2147483646 or below/],
		['100000-165536', /65536 users at most, got 65537/],
	] as const)
		t.regex(JSON.stringify(parseUserRange(text)), why, text);
});

test('without a range each folder has one of its own, clear of those that Debian and systemd give to others', t => {
	const ranges = ['/srv/one', '/srv/other'].map(defaultUserRange);
	t.not(ranges[0]?.first, ranges[1]?.first);
	for (const {first, last} of ranges) {
		t.is(last - first, limits.podUsers - 1);
		t.true(first >= 1_879_048_192 && last < 2_147_352_576);
		t.is(typeof parseUserRange(`${first}-${last}`), 'object');
	}
});

test('a pod whose file names the user of another controller gets that of its own', t => {
	const {open, warnings} = nodeOf(t);
	const before = open();
	before.take('a');
	before.take('b');
	const users = open();
	t.is(users.claim('a', {uid: 5_001, gid: 5_001}).uid, 5_000);
	t.is(users.claim('b', {uid: 5_001, gid: 5_001}).uid, 5_001);
	t.is(users.claim('c', {uid: 5_001, gid: 5_001}).uid, 5_002, 'never that of b');
	t.is(warnings.length, 2);
	for (const uid of [0, 999, 65_534, -1, 1.5, '5000']) t.false(isPodUser(uid), String(uid));
});

test('users of the host and of other programs that are in the range are told, the first of each file', t => {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-users-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const [passwd, subuid] = [path.join(folder, 'passwd'), path.join(folder, 'subuid')];
	writeFileSync(passwd, 'root:x:0:0::/:/bin/sh\nalice:x:5001:5001::/:/bin/sh\n\nbob:x:5002:5002::/:/bin/sh\nzoe:x:6000:6000::/:/bin/sh\n');
	writeFileSync(subuid, 'alice:4990:10\ndocker:4000:1001\nnone:5000:0\nodd\n');
	const others = (first: number, last: number) => hostUsersIn({first, last}, passwd, subuid);
	const [ofHost = '', ofOthers = ''] = others(5_000, 5_002);
	t.true(ofHost.startsWith(`pods get users from 5000 to 5002, and ${passwd} has 5001 ("alice", and 1 more): `));
	t.true(ofOthers.startsWith(`pods get users from 5000 to 5002, and ${subuid} has 4000 to 5000 ("docker"): `));
	t.deepEqual(others(5_003, 5_999), []);
	t.deepEqual(hostUsersIn({first: 1_000, last: 2_000}, path.join(folder, 'gone'), folder), [], 'what cannot be read says nothing');
});

test('who is not root is told what has no effect', t => {
	const asked = {users: {first: 5_000, last: 5_002}, processes: 100};
	const [users = '', processes = '', ...more] = startNotes(asked, undefined, false);
	t.regex(users, /^--pod-users has no effect: /);
	t.regex(processes, /^--max-processes has no effect: /);
	t.deepEqual(more, []);
	t.deepEqual(startNotes(asked, undefined, true), [users], 'control groups bound processes for everybody');
	t.deepEqual(startNotes({}, undefined, false), []);
});
