// What exec, attach, cp and retry say when they are used wrongly, and what a session is when its server goes.

import test from 'ava';
import {succeeded} from '../../api/errors.js';
import {runningPod, scriptNode} from '../server/_remote.js';
import {openCluster} from './_rig.js';

test('wrong usage says what would be right, and asks no cluster', async t => {
	const {troupe, cluster} = await openCluster(t);
	const said = async (...args: readonly string[]): Promise<readonly unknown[]> => {
		const {code, err} = await troupe(args);
		return [code, err];
	};
	const asked = cluster.asked.length;
	t.deepEqual(await said('exec', 'web', 'ls', '/srv'), [2, 'error: the program comes after --, as in: troupe exec web -- ls /srv\n']);
	t.deepEqual(await said('exec', 'web', 'ls', '-l'), [
		2,
		'error: unknown flag "-l"; the program and its flags come after --, as in: troupe exec web -- ls -l\n',
	]);
	t.deepEqual(await said('exec', 'web'), [2, 'error: which program? as in: troupe exec -it web -- sh\n']);
	t.deepEqual(await said('exec', 'rs/web', '--', 'ls'), [2, 'error: exec takes a pod, not a replicaset; troupe get pods lists them\n']);
	t.deepEqual(await said('retry'), [2, 'error: which pod? as in: troupe retry crash\n']);
	t.is(cluster.asked.length, asked);
});

test('a pod that cannot be entered is told with its reason before anything is begun', async t => {
	const {troupe, cluster} = await openCluster(t);
	cluster.pod('new');
	runningPod(cluster, [{name: 'main'}, {name: 'sidecar'}]);
	const asked = scriptNode(cluster, () => undefined);
	const [waits, wrongName, deaf] = await Promise.all([
		troupe(['exec', 'new', '--', 'ls']),
		troupe(['exec', 'web', '-c', 'sidecra', '--', 'ls']),
		troupe(['attach', '-i', 'web']),
	]);
	t.deepEqual(
		[waits.code, waits.err],
		[1, 'error: container "main" of pod "new" does not run: it has no node yet; troupe describe pod new tells more\n'],
	);
	t.deepEqual([wrongName.code, wrongName.err], [2, 'error: pod "web" has no container "sidecra"; did you mean "sidecar"?\n']);
	t.regex(deaf.err, /takes no input: "stdin: true" is missing in its spec/);
	t.deepEqual(asked, []);
});

test('a connection that is cut is no end of the program', async t => {
	const {start, cluster, gateway} = await openCluster(t);
	runningPod(cluster);
	let reads = 0;
	scriptNode(cluster, ask => {
		if (ask.type !== 'execRead') return undefined;
		if (reads++ > 0) return new Promise(() => undefined);
		return succeeded({parts: [{stream: 'stdout', data: Buffer.from('begun').toString('base64')}], end: undefined});
	});
	const running = start(['exec', 'web', '--', 'sleep', '9']);
	await running.says('begun');
	gateway.endTerm();
	const {code, err} = await running.ended;
	t.is(code, 5);
	t.regex(err, /^error: the session was ended by the control plane/);
});

test('logs and retry of a pod that has no node yet fail as things are: the words were right', async t => {
	const {troupe, cluster} = await openCluster(t);
	cluster.pod('new');
	const [logs, retry, ofKind] = await Promise.all([troupe(['logs', 'new']), troupe(['retry', 'new']), troupe(['retry', 'pod', 'new'])]);
	t.is(logs.code, 1);
	t.regex(logs.err, /waiting to start|does not have a host/);
	t.deepEqual([retry.code, retry.err], [1, 'error: pod new does not have a host assigned\n']);
	t.is(ofKind.err, retry.err);
});
