import test from 'ava';
import {chooseUser, obstacleToGroups, setprivWords} from '../../agent/process/privileges.js';
import {rightsInView, rightsOf} from '../../agent/process/plan.js';
import {toolNames, type MountTools} from '../../agent/process/mount-text.js';

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

const dropper = (drop: Parameters<typeof setprivWords>[1]) => setprivWords('setpriv', drop);

test('a program gets its groups with its user, root too', t => {
	const host = {agent: root, groups: [], dropper};
	t.deepEqual(rightsOf(host, nobody, [5, 6]), {
		ok: true,
		drop: ['setpriv', '--reuid=65534', '--regid=65534', '--groups=5,6', '--'],
	});
	t.deepEqual(rightsOf(host, root, []), {ok: true, drop: undefined});
	t.deepEqual(rightsOf(host, root, [5]), {ok: true, drop: ['setpriv', '--reuid=0', '--regid=0', '--groups=5', '--']});
	t.false(rightsOf({...host, dropper: undefined}, nobody, [5]).ok);
	t.deepEqual(rightsOf({agent: somebody, groups: [5], dropper: undefined}, somebody, [5]), {ok: true, drop: undefined});
});

test('in a view of its own no program but one of root gets rights by a file', t => {
	const tools = Object.fromEntries(toolNames.map(name => [name, name])) as MountTools;
	t.true(rightsInView(tools, nobody, [])?.includes('--no-new-privs'));
	t.is(rightsInView(tools, root, []), undefined);
	t.deepEqual(rightsInView(tools, root, [5]), ['setpriv', '--reuid=0', '--regid=0', '--groups=5', '--']);
});
