// The life of pods as a person sees it from the command line: how they end, what they wrote, why, and how they are deleted.

import test from 'ava';
import {containerOf, isReady, phaseOf, pidOf, pidsWhenRunning, untilAnswers} from '../../bench/rigs/cluster/pods.js';
import {obedientPod, podOf} from '../../bench/rigs/cluster/manifests.js';
import {lives, signal} from '../../bench/rigs/cluster/processes.js';
import {openFileHome} from './_rig.js';
import {systemClock} from '../../system/time/clock.js';
import {eventually, until} from '../../bench/rigs/cluster/waiting.js';

const {cluster, client} = openFileHome(test);

const shell = (text: string): readonly string[] => ['sh', '-c', text];

test('pods that may end do, as what their programs say', async t => {
	await cluster.apply(
		podOf('done', shell('echo all is well'), {restartPolicy: 'Never'}),
		podOf('failed', shell('echo no; exit 4'), {restartPolicy: 'Never'}),
		obedientPod('tried', {restartPolicy: 'OnFailure'}),
		podOf('missing', ['/no/such/program'], {restartPolicy: 'Never'}),
	);
	const tried = async (restarts: number, name: NodeJS.Signals): Promise<void> => {
		const pod = await until(client(), 'pods', `run ${restarts} of it`, pods => {
			const found = pods.get('tried');
			return containerOf(found)?.restartCount === restarts && isReady(found) && found;
		});
		await untilAnswers(pod, pidOf(pod));
		signal(pidOf(pod) ?? 0, name);
	};
	await tried(0, 'SIGUSR2');
	await tried(1, 'SIGUSR1');
	const ended = await until(client(), 'pods', 'three ends', pods => {
		const phases = ['done', 'failed', 'tried'].map(name => phaseOf(pods.get(name)));
		return phases.every(phase => phase === 'Succeeded' || phase === 'Failed') && new Map(pods);
	});
	const said = (name: string) => {
		const container = containerOf(ended.get(name));
		return [phaseOf(ended.get(name)), container?.state?.terminated?.exitCode, container?.restartCount];
	};
	t.deepEqual(said('done'), ['Succeeded', 0, 0]);
	t.deepEqual(said('failed'), ['Failed', 4, 0]);
	t.deepEqual(said('tried'), ['Succeeded', 0, 1]);
	t.is(await cluster.fine('logs', 'done'), 'all is well\n');
	const table = await cluster.fine('get', 'pods');
	t.regex(table, /^done +0\/1 +Completed +0 /m);
	t.regex(table, /^failed +0\/1 +Error +0 /m);
	t.regex(await cluster.fine('describe', 'pod', 'failed'), /Status: +Failed\n[^]*State: +Terminated \(Error\): exit code 4/);
	const missing = await until(client(), 'pods', 'a reason', pods => containerOf(pods.get('missing'))?.state?.waiting?.message);
	t.regex(missing, /program "\/no\/such\/program" does not exist/);
});

test('logs come byte for byte, of the run before as well, and as they are written', async t => {
	await cluster.apply(
		podOf('writer', shell('trap "echo bye; exit 3" USR1; printf "first\\nsecond, ünïcode\\n" ; while :; do sleep 0.02; done')),
	);
	const [pid = 0] = await pidsWhenRunning(client(), 'writer');
	const follower = cluster.start(['logs', '-f', 'writer']);
	await follower.says(/ünïcode\n$/);
	signal(pid, 'SIGUSR1');
	const run = 'first\nsecond, ünïcode\n';
	await follower.says(/bye\nfirst\nsecond, ünïcode\n$/);
	follower.kill('SIGINT');
	const followed = await follower.ended;
	t.deepEqual([followed.code, followed.out], [130, `${run}bye\n${run}`], 'it goes on with the next run');
	t.regex(followed.err, /container main restarted: exit 3/);
	await until(client(), 'pods', 'the next run', pods => containerOf(pods.get('writer'))?.restartCount === 1 && isReady(pods.get('writer')));
	t.is(await cluster.fine('logs', 'writer', '--previous'), 'first\nsecond, ünïcode\nbye\n');
	t.is(await cluster.fine('logs', 'writer', '--previous', '--tail', '1'), 'bye\n');
	t.is((await cluster.troupe('logs', 'nobody')).code, 3);
	t.not((await cluster.troupe('logs', 'writer', '-c', 'nobody')).code, 0);
});

test('a log that is written without pause ends when it is not followed, and its last lines are as many as are asked for', async t => {
	await cluster.apply(podOf('busy', shell('while :; do echo tick; done')));
	await pidsWhenRunning(client(), 'busy');
	for (let look = 0; look < 3; look++) t.is(await cluster.fine('logs', 'busy', '--tail', '2'), 'tick\ntick\n');
	const all = await cluster.fine('logs', 'busy');
	t.true(all.length > 10);
	t.is(all.replaceAll('tick\n', ''), '');
	await cluster.fine('delete', 'pod', 'busy', '--now');
});

test('why and events tell what led to a pod', async t => {
	await cluster.apply(obedientPod('story'));
	const [pid = 0] = await pidsWhenRunning(client(), 'story');
	signal(pid, 'SIGKILL');
	await until(client(), 'pods', 'a restart', pods => containerOf(pods.get('story'))?.restartCount === 1 && isReady(pods.get('story')));
	const why = await cluster.fine('why', 'pod/story', '--commits');
	t.regex(why, /^Nothing is wrong with Pod story: it has been ready for /);
	t.regex(why, /its container main was restarted .* ago: it was killed by signal 9 \(SIGKILL\) after /);
	const steps = [
		/init .* http admin POST pods\/default\/story/,
		/bind +troupe:\/\/control\/scheduler /,
		/observed +troupe:\/\/control\/sync\/vm /,
	];
	t.true(
		steps.every(step => step.test(why)),
		why,
	);
	const events = await cluster.fine('events', '--for', 'pod/story');
	for (const reason of ['Scheduled', 'Started', 'Crashed']) t.regex(events, new RegExp(` ${reason} +pod/story `), events);
	t.regex(await cluster.fine('describe', 'pod', 'story'), new RegExp(`IP: +127\\.[\\d.]+\n[^]*Restart Count: +1\n[^]*Crashed`));
});

test('a program that will not end is killed after its grace; --now and --force are quicker', async t => {
	const deaf = shell('trap "" TERM; exec sleep 100000');
	await cluster.apply(
		podOf('deaf', deaf, {terminationGracePeriodSeconds: 1}),
		podOf('hurried', deaf),
		podOf('forced', deaf),
		obedientPod('polite'),
	);
	const [deafPid = 0, hurried = 0, forced = 0, polite = 0] = await pidsWhenRunning(client(), 'deaf', 'hurried', 'forced', 'polite');
	const took = async (...args: readonly string[]): Promise<number> => {
		const fromMs = systemClock.monotonicMs();
		await cluster.fine('delete', 'pod', ...args);
		return systemClock.monotonicMs() - fromMs;
	};
	const [deafMs, hurriedMs, forcedMs, politeMs] = await Promise.all([
		took('deaf'),
		took('hurried', '--now'),
		took('forced', '--force'),
		took('polite'),
	]);
	t.log(
		`grace 1 s: ${Math.round(deafMs)} ms; --now: ${Math.round(hurriedMs)} ms; --force: ${Math.round(forcedMs)} ms; obeys: ${Math.round(politeMs)} ms`,
	);
	t.true(deafMs >= 1_000 && hurriedMs >= 1_000, 'the grace is given');
	t.false([deafPid, hurried, polite].some(lives), 'a record is gone when its program is');
	await until(client(), 'pods', 'all records to be gone', pods => !['deaf', 'hurried', 'forced', 'polite'].some(name => pods.has(name)));
	// This record went at once; its hand is surplus and ends the program.
	await eventually('the forced one to end, too', () => !lives(forced));
});

test('get -w shows each change, and every form of get shows the same pods', async t => {
	const watching = cluster.start(['get', 'pods', '-l', 'app=forms', '-w']);
	await watching.says(/^NAME /);
	await cluster.apply(podOf('forms', ['sleep', '100000'], {labels: {app: 'forms'}}));
	const [pid] = await pidsWhenRunning(client(), 'forms');
	await watching.says(/^forms +1\/1 +Running /m);
	const [table, wide, json, yaml, name] = await Promise.all(
		[[], ['-o', 'wide'], ['-o', 'json'], ['-o', 'yaml'], ['-o', 'name']].map(form =>
			cluster.fine('get', 'pods', '-l', 'app=forms', ...form),
		),
	);
	t.regex(table ?? '', /^NAME +READY +STATUS +RESTARTS +AGE *\nforms +1\/1 +Running +0 +\d+s *\n$/);
	t.regex(wide ?? '', /^NAME .* IP +NODE .*\nforms .* 127\.[\d.]+ +vm /);
	const list = JSON.parse(json ?? '') as {kind: string; items: Parameters<typeof pidOf>[0][]};
	t.deepEqual([list.kind, list.items.length, pidOf(list.items[0])], ['List', 1, pid]);
	t.regex(yaml ?? '', /^apiVersion: v1\nkind: List\n[^]*\n {4}metadata:\n {6}name: forms\n/);
	t.is(name, 'pod/forms\n');
	await cluster.fine('delete', 'pod', 'forms');
	const shown = await watching.says(/^forms .*Terminating/m);
	t.regex(shown, /^forms +0\/1 +(Pending|ContainerCreating) [^]*^forms +1\/1 +Running [^]*^forms +\d\/1 +Terminating /m);
	watching.kill('SIGINT');
	t.is((await watching.ended).code, 130);
});
