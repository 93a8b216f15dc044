// Whatever is killed, stopped or hung, the node says so, loses no end of a container and leaves nothing behind.

import {existsSync, mkdirSync, mkdtempSync, writeFileSync} from 'node:fs';
import test, {type ExecutionContext} from 'ava';
import {mountsBelow} from '../../bench/rigs/servers/mounts.js';
import {startDockerd, type Dockerd, type DockerdOptions} from '../../bench/rigs/servers/dockerd.js';
import {until} from '../../bench/rigs/servers/server.js';
import type {ContainerId, RunningContainer} from '../../actors/node/runtime/runtime-port.js';
import {groupFolders} from '../../agent/docker/cgroups/pod-cgroup.js';
import {labels, nameOf} from '../../agent/docker/engine/names.js';
import {readOwner} from '../../agent/docker/owner.js';
import {removeEverything} from '../../agent/docker/remove-everything.js';
import {readMountinfo} from '../../agent/os/mountinfo.js';
import {runTool} from '../../agent/os/tools.js';
import {systemClock} from '../../system/time/clock.js';
import {aSandbox} from '../agent/_sandbox.js';
import {dockerWorld, type DockerWorld} from '../agent/docker-world.js';
import {isThere} from '../agent/process-world.js';
import {driver, mount} from '../agent/runtime-contract.js';

const main: ContainerId = {uid: 'uid-1', container: 'main'};

/** A node with an Engine of its own and a pod of which one container runs. */
async function aNode(t: ExecutionContext, options: DockerdOptions = {}) {
	const dockerd = await startDockerd(t, options);
	const world = dockerWorld(dockerd, clean => t.teardown(clean));
	const calls = driver(world);
	await calls.ensure('uid-1');
	const running = await calls.start(calls.aContainer('runs'));
	return {dockerd, world, running, ...calls};
}

const reasonOf = (world: DockerWorld): string =>
	world
		.runtime()
		.info()
		.conditions.find(({type}) => type === 'DockerNotReady')?.reason ?? 'ready';
const becomes = (world: DockerWorld, reason: string): Promise<void> =>
	until(`the node is ${reason}`, () => reasonOf(world) === reason, 60_000);
const lost = (world: DockerWorld): number => world.events.filter(({type}) => type === 'sandboxLost').length;

/** With the pod nothing of it is left: no container, no process, no mount. */
async function leavesNothing(
	t: ExecutionContext,
	dockerd: Dockerd,
	world: DockerWorld,
	started: readonly RunningContainer[],
): Promise<void> {
	const {remove} = driver(world);
	await remove('uid-1');
	t.deepEqual(await world.left(), []);
	t.deepEqual(mountsBelow(world.directory), []);
	t.deepEqual(
		mountsBelow(`${dockerd.folder}/data`).filter(point => point.includes('/merged') || point.endsWith('/shm')),
		[],
	);
	t.deepEqual(mountsBelow(`${dockerd.folder}/exec/netns`), []);
	for (const {pid} of started) t.false(isThere(pid));
}

const infraOf = async ({docker}: Dockerd): Promise<string> =>
	(await docker('ps', '-q', '--no-trunc', '--filter', 'label=troupe.dev/container=_infra')).trim();

test.serial('a container that is killed ends once, and the next attempt runs in the same sandbox', async t => {
	const {dockerd, world, running, ends, start, ensure, aContainer} = await aNode(t);
	const {podIP} = await ensure('uid-1');
	const started = [running];
	for (let attempt = 1; attempt <= 5; attempt++) {
		process.kill(started.at(-1)?.pid ?? 0, 'SIGKILL');
		const told = await ends(attempt);
		t.is(told.length, attempt);
		t.is(told.at(-1)?.exit.exitCode, 137);
		started.push(await start(aContainer('runs', {attempt})));
	}
	t.is((await ensure('uid-1')).podIP, podIP);
	t.is(lost(world), 0);
	await leavesNothing(t, dockerd, world, started);
});

test.serial('a killed infra container is told, and the sandbox is made anew once nothing of the pod runs', async t => {
	const {dockerd, world, running, ensure, run, start, stop, aContainer} = await aNode(t);
	const before = await infraOf(dockerd);
	process.kill(Number(await dockerd.docker('inspect', '-f', '{{.State.Pid}}', before)), 'SIGKILL');
	await until('the loss is told', () => lost(world) === 1);
	t.true((await ensure('uid-1')).isLost);
	t.true(isThere(running.pid));
	const outcome = await run<'container.start'>({type: 'container.start', spec: aContainer('runs', {container: 'second'})});
	t.regex(outcome.ok ? '' : outcome.error.message, /infra container of its pod does not run/);
	await stop(main, 0);
	const sandbox = await ensure('uid-1');
	t.deepEqual(sandbox.firstAttempts, {main: 1});
	t.is(sandbox.isLost, undefined);
	t.not(await infraOf(dockerd), before);
	const again = await start(aContainer('runs', {attempt: 1}));
	t.deepEqual((await ensure('uid-1')).firstAttempts, {main: 1});
	t.is(lost(world), 1);
	await leavesNothing(t, dockerd, world, [running, again]);
});

test.serial('an Engine that hangs is told, and when it answers again everything is as it was', async t => {
	const {dockerd, world, running, inspect, told, run} = await aNode(t);
	await dockerd.pause();
	await becomes(world, 'EngineHangs');
	t.deepEqual(world.runtime().info().classes, []);
	t.deepEqual((await inspect(main)).running, running);
	// Asked now it is answered later, or with a reason.
	const asked = run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox('uid-2')});
	dockerd.wake();
	await becomes(world, 'ready');
	t.true((await asked).ok);
	t.deepEqual((await inspect(main)).running, running);
	t.deepEqual(told, []);
	t.is(lost(world), 0);
	await run<'sandbox.remove'>({type: 'sandbox.remove', uid: 'uid-2'});
	await leavesNothing(t, dockerd, world, [running]);
});

test.serial('containers that outlive their Engine are as they were, and an end meanwhile is told', async t => {
	const {dockerd, world, running, inspect, start, ends, told, aContainer} = await aNode(t, {liveRestore: true});
	const second = await start(aContainer('runs', {container: 'second'}));
	await dockerd.kill();
	await becomes(world, 'EngineGone');
	process.kill(second.pid, 'SIGKILL');
	await dockerd.start();
	await becomes(world, 'ready');
	t.deepEqual((await inspect(main)).running, running);
	const [end] = await ends(1);
	t.is(end?.id.container, 'second');
	t.is(told.length, 1);
	t.is(lost(world), 0);
	await leavesNothing(t, dockerd, world, [running, second]);
});

for (const [how, end] of [
	['is killed', (dockerd: Dockerd) => dockerd.kill()],
	['is stopped', (dockerd: Dockerd) => dockerd.stop()],
] as const) {
	test.serial(`an Engine that ${how} takes its containers with it: the loss and each end are told, and the pod runs again`, async t => {
		const {dockerd, world, running, ensure, start, ends, told, aContainer} = await aNode(t);
		await end(dockerd);
		await becomes(world, 'EngineGone');
		await dockerd.start();
		await becomes(world, 'ready');
		await ends(1);
		await until('the loss is told', () => lost(world) === 1);
		t.is(told.length, 1);
		const sandbox = await ensure('uid-1');
		t.deepEqual(sandbox.firstAttempts, {main: 1});
		const again = await start(aContainer('runs', {attempt: 1}));
		await leavesNothing(t, dockerd, world, [running, again]);
	});
}

test.serial('what another node or a user has in the Engine stays', async t => {
	const {dockerd, world, remove, restartAgent} = await aNode(t);
	const id = (await dockerd.docker('run', '-d', '--label', 'troupe.dev/owner=another', 'busybox', 'sleep', '1000000')).trim();
	await restartAgent();
	await becomes(world, 'ready');
	await remove('uid-1');
	t.deepEqual(await world.left(), []);
	t.is((await dockerd.docker('ps', '-q', '--no-trunc')).trim(), id);
});

test.serial("a container that has a name of this node and is another's stays; what the name was for says so", async t => {
	const {dockerd, world, run, start, remove, aContainer} = await aNode(t);
	const spec = aContainer('runs', {container: 'second'});
	const name = nameOf({owner: readOwner(world.directory) ?? '', namespace: spec.namespace, podName: spec.podName, id: spec.id, attempt: 0});
	const id = (await dockerd.docker('run', '-d', '--name', name, 'busybox', 'sleep', '1000000')).trim();
	const refused = await run<'container.start'>({type: 'container.start', spec});
	t.regex(refused.ok ? '' : refused.error.message, new RegExp(`one called "${name}" that is not of this node`));
	t.is((await dockerd.docker('inspect', '-f', '{{.Id}} {{.State.Running}}', name)).trim(), `${id} true`);
	// With this node's label it is one that a call has made which was not answered.
	await dockerd.docker('rm', '-f', name);
	await dockerd.docker('create', '--name', name, '--label', `${labels.owner}=${readOwner(world.directory) ?? ''}`, 'busybox', 'true');
	t.is((await start(spec)).attempt, 0);
	await remove('uid-1');
	t.deepEqual(await world.left(), []);
});

test.serial('without an agent everything of a node goes: what runs, what it had in memory, what was held, its control groups', async t => {
	const {dockerd, world, running, value, run, start, aContainer} = await aNode(t);
	const memory = {name: 'memory', source: {type: 'emptyDir', inMemory: true, sizeLimitBytes: 1_048_576}} as const;
	await value(run<'volumes.ensure'>({type: 'volumes.ensure', uid: 'uid-1', namespace: 'default', volumes: [memory], fsGroup: undefined}));
	const second = await start(aContainer('runs', {container: 'second', mounts: [mount('memory', '/memory')]}));
	const other = (await dockerd.docker('run', '-d', 'busybox', 'sleep', '1000000')).trim();
	await world.stopAgent();
	// As an agent leaves it that is killed in the middle of a start.
	const source = mkdtempSync(`${dockerd.folder}/source-`);
	writeFileSync(`${source}/kept`, '');
	mkdirSync(`${world.directory}/.binds/0`, {recursive: true});
	await runTool('mount', ['--bind', source, `${world.directory}/.binds/0`]);
	const groups = groupFolders(`/troupe-${readOwner(world.directory) ?? ''}`, readMountinfo());
	t.true(groups.some(existsSync));
	t.is(mountsBelow(world.directory).length, 3);

	const address = {socketPath: dockerd.socketPath};
	t.is(await removeEverything(world.directory, {address, clock: systemClock, graceMs: 10_000}), 2);
	t.deepEqual(await world.left(), []);
	t.deepEqual(mountsBelow(world.directory), []);
	t.deepEqual(groups.filter(existsSync), []);
	t.true(existsSync(`${source}/kept`));
	for (const {pid} of [running, second]) t.false(isThere(pid));
	t.is((await dockerd.docker('ps', '-q', '--no-trunc')).trim(), other);
});

test.serial('an image that names no program is refused as such, also behind a gate, and nothing of the attempt is left', async t => {
	const {dockerd, world, run, start, aContainer} = await aNode(t);
	await dockerd.docker('import', '-c', 'ENV A=b', `${dockerd.folder}/busybox.tar`, 'silent:latest');
	const spec = aContainer('runs', {container: 'second', image: 'silent', argv: []});
	const refused = await run<'container.start'>({type: 'container.start', spec});
	t.like(refused, {ok: false, error: {code: 'ERR_NO_COMMAND'}});
	t.regex(refused.ok ? '' : refused.error.message, /"second" names no command, and neither does image "silent": set command$/);
	await run<'lease.extend'>({type: 'lease.extend', uid: 'uid-1', untilMs: systemClock.monotonicMs() + 60_000});
	t.like(await run<'container.start'>({type: 'container.start', spec: {...spec, exclusive: true}}), {error: {code: 'ERR_NO_COMMAND'}});
	t.is((await world.left()).length, 2);
	t.is((await start(aContainer('runs', {container: 'second'}))).attempt, 0);
});

test.serial('an image of infra containers that somebody removes is made again', async t => {
	const {dockerd, world, ensure, remove} = await aNode(t);
	await remove('uid-1');
	const [image = ''] = (await dockerd.docker('images', '-q', 'troupe.dev/infra')).trim().split('\n');
	await dockerd.docker('rmi', '-f', image);
	t.not((await ensure('uid-2')).podIP, '');
	t.is((await world.left()).length, 1);
});
