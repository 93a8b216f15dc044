import test from 'ava';
import {chooseUser, obstacleToGroups, setprivWords, type Drop} from '../../agent/process/users/privileges.js';
import type {User} from '../../agent/os/user.js';
import {rightsInView, rightsOf} from '../../agent/process/start/rights.js';
import {toolNames, type MountTools} from '../../agent/process/mounts/mount-script.js';

const root = {uid: 0, gid: 0};
const somebody = {uid: 1_000, gid: 1_000};
const nobody = {uid: 65_534, gid: 65_534};

test('runAsNonRoot refuses root, however it was chosen', t => {
	const asked = (uid: number | undefined) => chooseUser(root, {own: undefined, uid, gid: undefined, isNonRoot: true});
	t.deepEqual(asked(0), {ok: false, reason: 'runAsNonRoot is set and it would run as root: set runAsUser to another user'});
	t.true(asked(undefined).ok);
	t.true(asked(7).ok);
	t.true(chooseUser(root, {own: undefined, uid: 0, gid: undefined, isNonRoot: false}).ok);
	t.true(chooseUser(somebody, {own: undefined, uid: undefined, gid: undefined, isNonRoot: true}).ok);
});

test('root gives any group, others only what they are in', t => {
	t.is(obstacleToGroups(root, [], [5, 6]), undefined);
	t.is(obstacleToGroups(somebody, [20], [1_000, 20]), undefined);
	t.is(obstacleToGroups(somebody, [20], [21]), 'it asks for group 21, but this agent is no root and is not in it');
	t.regex(obstacleToGroups(root, [], [-1]) ?? '', /must be group ids/);
});

const dropper = (drop: Drop) => setprivWords('setpriv', drop);

test('a program gets its groups with its user, root too, and no rights by files unless it may', t => {
	const host = {agent: root, groups: [], dropper, noGain: 'setpriv'};
	const asked = (user: User, groups: readonly number[], mayGain = false): Drop => ({user, groups, mayGain});
	const seal = ['setpriv', '--no-new-privs'];
	t.deepEqual(rightsOf(host, asked(nobody, [5, 6])), {ok: true, drop: [...seal, '--reuid=65534', '--regid=65534', '--groups=5,6', '--']});
	t.deepEqual(rightsOf(host, asked(nobody, [], true)), {
		ok: true,
		drop: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--'],
	});
	t.deepEqual(rightsOf(host, asked(root, [])), {ok: true, drop: [...seal, '--']});
	t.deepEqual(rightsOf(host, asked(root, [], true)), {ok: true, drop: undefined});
	t.deepEqual(rightsOf(host, asked(root, [5])), {ok: true, drop: [...seal, '--reuid=0', '--regid=0', '--groups=5', '--']});
	t.false(rightsOf({...host, dropper: undefined}, asked(nobody, [5])).ok);
	const plain = {agent: somebody, groups: [5], dropper: undefined, noGain: 'setpriv'};
	t.deepEqual(rightsOf(plain, asked(somebody, [5])), {ok: true, drop: [...seal, '--']});
	t.deepEqual(rightsOf({...plain, noGain: undefined}, asked(somebody, [5])), {ok: true, drop: undefined});
});

test('the same in a view of its own', t => {
	const tools = Object.fromEntries(toolNames.map(name => [name, name])) as MountTools;
	const words = (user: User, groups: readonly number[], mayGain = false) => rightsInView(tools, {user, groups, mayGain});
	t.true(words(nobody, [])?.includes('--no-new-privs'));
	t.false(words(nobody, [], true)?.includes('--no-new-privs'));
	t.deepEqual(words(root, []), ['setpriv', '--no-new-privs', '--']);
	t.is(words(root, [], true), undefined);
	t.deepEqual(words(root, [5]), ['setpriv', '--no-new-privs', '--reuid=0', '--regid=0', '--groups=5', '--']);
});
