// I1 on Docker: nothing of an exclusive pod runs beyond its lease, whatever has become of its agent and of the Engine.

import {readdirSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import {setImmediate as nextTurn} from 'node:timers/promises';
import test, {type ExecutionContext} from 'ava';
import type {ContainerSpec, RunningContainer} from '../../actors/node/runtime/runtime-port.js';
import {gatePath} from '../../agent/docker/programs/gate.js';
import {until} from '../../bench/rigs/servers/server.js';
import {systemClock} from '../../system/time/clock.js';
import {aSandbox} from '../agent/_sandbox.js';
import {dockerWorld} from '../agent/docker-world.js';
import {isThere} from '../agent/process-world.js';
import {driver} from '../agent/runtime-contract.js';
import {startDockerAgent} from './_docker-agents.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);

/** As the first process of its namespace it ignores SIGTERM; a child in another session is to end with it. */
const program = ['sh', '-c', 'echo ran; setsid sleep 1000000 & trap "" TERM; while :; do sleep 1; done'];

function nodeOf(t: ExecutionContext) {
	const world = dockerWorld(dockerd(), clean => t.teardown(clean));
	const node = driver(world);
	const spec = (rest: Partial<ContainerSpec> = {}): ContainerSpec => node.aContainer('runs', {argv: program, exclusive: true, ...rest});
	const sandbox = () => node.value(node.run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox('uid-1', {exclusive: true})}));
	/** Its end by the monotonic clock. */
	const lease = async (ms: number): Promise<number> => {
		const untilMs = systemClock.monotonicMs() + ms;
		await node.value(node.run<'lease.extend'>({type: 'lease.extend', uid: 'uid-1', untilMs}));
		return untilMs;
	};
	return {...node, world, spec, sandbox, lease};
}

/** What watchdogs and this agent may take for the kill. */
const killMs = 2_000;

async function endsAt(t: ExecutionContext, pid: number, untilMs: number): Promise<void> {
	t.true(isThere(pid));
	await until('the program has ended', () => !isThere(pid), 30_000);
	const afterMs = systemClock.monotonicMs() - untilMs;
	t.true(afterMs > -50 && afterMs < killMs, `ended ${Math.round(afterMs)} ms after its lease`);
}

/** Where containerd has a folder for each container that is started. */
const tasks = (): string => path.join(dockerd().folder, 'exec/containerd/daemon/io.containerd.runtime.v2.task/moby');

/** What comes into a folder next. Looked for all the time: a moment later the start is over. */
async function somethingIn(folder: string, before: readonly string[]): Promise<string> {
	for (;;) {
		const name = readdirSync(folder).find(each => !before.includes(each));
		if (name !== undefined) return name;
		await nextTurn();
	}
}

test.serial('without a lease an exclusive container does not start, and with one it runs as any other does', async t => {
	const {sandbox, lease, spec, run, stop, start, told, ends} = nodeOf(t);
	await sandbox();
	const refused = await run<'container.start'>({type: 'container.start', spec: spec()});
	t.regex(refused.ok ? '' : refused.error.message, /lease is not held/);
	await lease(60_000);
	const missing = await run<'container.start'>({type: 'container.start', spec: spec({argv: ['no-such-program']})});
	t.regex(missing.ok ? '' : missing.error.message, /exec: "no-such-program": executable file not found in \$PATH/);
	const {pid} = await start(spec());
	t.true(isThere(pid));
	t.is((await stop({uid: 'uid-1', container: 'main'}, 0))?.exitCode, 137);
	await start(spec({attempt: 1, argv: ['sh', '-c', 'exit 7']}));
	await ends(2);
	t.is(told[1]?.exit.exitCode, 7);
	// What the image runs by itself.
	await start(spec({attempt: 2, argv: []}));
	await ends(3);
	t.is(told[2]?.exit.exitCode, 0);
});

test.serial(
	'the end of the lease is the end of the program, also where the Engine hangs; it may run again with the next lease',
	async t => {
		const {sandbox, lease, spec, start, ends, told} = nodeOf(t);
		await sandbox();
		const untilMs = await lease(2_500);
		const {pid} = await start(spec());
		await dockerd().pause();
		try {
			await endsAt(t, pid, untilMs);
		} finally {
			dockerd().wake();
		}
		await ends(1);
		t.is(told[0]?.exit.exitCode, 137);
		await lease(60_000);
		t.true(isThere((await start(spec({attempt: 1}))).pid));
	},
);

test.serial('so it is when the agent was killed and the Engine hangs: the watchdogs kill', async t => {
	const {world, sandbox, lease} = nodeOf(t);
	await sandbox();
	await lease(100);
	await world.stopAgent();
	const agent = startDockerAgent(t, dockerd(), world.directory);
	await agent.run({type: 'sandbox.ensure', spec: aSandbox('uid-1', {exclusive: true})});
	const untilMs = systemClock.monotonicMs() + 4_000;
	t.true((await agent.run({type: 'lease.for', uid: 'uid-1', ms: 4_000})).ok);
	const {spec} = nodeOf(t);
	const started = await agent.run({type: 'container.start', spec: spec()});
	const {pid} = (started.ok ? started.value : {pid: 0}) as RunningContainer;
	await dockerd().pause();
	try {
		await agent.kill();
		await endsAt(t, pid, untilMs);
	} finally {
		dockerd().wake();
	}
	world.startAgent();
});

for (const isKilled of [false, true])
	test.serial(
		`a start that hangs in the Engine beyond the lease never runs the program${isKilled ? ', also when its agent is killed meanwhile' : ''}`,
		async t => {
			const {world, spec} = nodeOf(t);
			await world.stopAgent();
			const agent = startDockerAgent(t, dockerd(), world.directory);
			await agent.run({type: 'sandbox.ensure', spec: aSandbox('uid-1', {exclusive: true})});
			t.true((await agent.run({type: 'lease.for', uid: 'uid-1', ms: 3_000})).ok);
			const before = readdirSync(tasks());
			const overMs = systemClock.monotonicMs() + 3_000;
			const outcome = agent.run({type: 'container.start', spec: spec()});
			// It is made, and being started: its shim has something to run.
			const id = await somethingIn(tasks(), before);
			await dockerd().pause();
			if (isKilled) await agent.kill();
			await until('the lease is over', () => systemClock.monotonicMs() > overMs + 500, 10_000);
			dockerd().wake();
			if (isKilled) {
				// A container that was started now waits at its gate, and the next agent takes it away.
				const said = JSON.parse(await dockerd().docker('inspect', id)) as {State: {Pid: number; Running: boolean}}[];
				const {Pid = 0, Running = false} = said[0]?.State ?? {};
				if (Running) t.is(readlinkSync(`/proc/${Pid}/exe`), gatePath);
			} else {
				const answer = await outcome;
				t.regex(
					answer.ok ? '' : answer.error.message,
					/the lease of its pod has ended|before its program began|cannot start a stopped process/,
				);
			}
			t.is(
				await dockerd()
					.docker('logs', id)
					.catch(() => ''),
				'',
			);
			if (!isKilled) await agent.kill();
			world.startAgent();
			await until('the container is gone', async () => !(await world.left()).includes(id), 30_000);
			const {inspect, spec: next, start, lease} = driverOf(world);
			t.deepEqual(await inspect({uid: 'uid-1', container: 'main'}), {running: undefined, lastExit: undefined, nextAttempt: 0});
			await lease(30_000);
			t.true(isThere((await start(next())).pid), 'the same attempt, for it never ran');
		},
	);

function driverOf(world: ReturnType<typeof dockerWorld>) {
	const node = driver(world);
	const spec = (): ContainerSpec => node.aContainer('runs', {argv: program, exclusive: true});
	const lease = (ms: number) =>
		node.value(node.run<'lease.extend'>({type: 'lease.extend', uid: 'uid-1', untilMs: systemClock.monotonicMs() + ms}));
	return {...node, spec, lease};
}
