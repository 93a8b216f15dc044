// What every runtime promises. A runtime that passes this can stand in for any other.

import type {ExecutionContext, TestFn} from 'ava';
import type {Outcome} from '../../api/errors.js';
import type {
	ContainerAction,
	ContainerExit,
	ContainerId,
	ContainerSpec,
	ExecRequest,
	LogRequest,
	MountSpec,
	RunningContainer,
	Runtime,
	RuntimeCommand,
	RuntimeResults,
} from '../../actors/node/runtime/runtime-port.js';
import {aSandbox} from './_sandbox.js';

/** One node under test. */
export type World = {
	readonly runtime: () => Runtime;
	/** Lets time pass until the promise is settled. */
	readonly settle: <Value>(promise: Promise<Value>) => Promise<Value>;
	/** SIGKILL to the program. */
	readonly kill: (id: ContainerId, running: RunningContainer) => void;
	/** The agent is gone; containers are not. */
	readonly stopAgent: () => Promise<void>;
	readonly startAgent: () => void;
	/** With no agent: nothing runs any more and the host has booted again. */
	readonly reboot: () => Promise<void>;
	/** With no agent: resolves when the program that was killed is gone. */
	readonly gone: (running: RunningContainer) => Promise<void>;
	/** What runs where it cannot be what any host has; undefined: that. */
	readonly programs?: Programs;
	/** False: after a reboot a sandbox has another address. */
	readonly keepsAddress?: boolean;
};

export type Programs = Readonly<Record<'runs' | 'succeeds' | 'fails' | 'ignoresTerm', Pick<ContainerSpec, 'image' | 'argv'>>>;

type Told = {readonly podName: string; readonly id: ContainerId; readonly exit: ContainerExit};

/** A world with the calls that tests make. */
export function driver(world: World) {
	const told: Told[] = [];
	let onTold: () => void = () => undefined;
	const listen = (): void =>
		world.runtime().onExit(({podName, id}, exit) => {
			told.push({podName, id, exit});
			onTold();
		});
	listen();
	const run = <Type extends RuntimeCommand['type']>(
		command: Extract<RuntimeCommand, {type: Type}>,
	): Promise<Outcome<RuntimeResults[Type]>> =>
		world.settle(new Promise<Outcome<RuntimeResults[Type]>>(resolve => world.runtime().run(command, resolve)));
	const value = async <Value>(outcome: Promise<Outcome<Value>>): Promise<Value> => {
		const settled = await outcome;
		if (!settled.ok) throw new Error(settled.error.message);
		return settled.value;
	};
	const {programs = programsOfHosts} = world;
	return {
		told,
		run,
		value,
		/** A container of this world. */
		aContainer: (program: keyof Programs, rest: Partial<ContainerSpec & ContainerId> = {}): ContainerSpec =>
			aContainer(program, {...programs[program], ...rest}),
		ensure: (uid: string, controller = `default/Pod/pod-${uid}`) =>
			value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox(uid, {controller})})),
		start: (spec: ContainerSpec) => value(run<'container.start'>({type: 'container.start', spec})),
		inspect: (id: ContainerId) => value(run<'container.inspect'>({type: 'container.inspect', id})),
		stop: (id: ContainerId, graceMs: number) => value(run<'container.stop'>({type: 'container.stop', id, graceMs})),
		log: (id: ContainerId, request: Partial<LogRequest> = {}) =>
			run<'logs.read'>({type: 'logs.read', request: {...logRequest, id, ...request}}),
		act: (id: ContainerId, action: ContainerAction, timeoutMs = 60_000) =>
			run<'container.act'>({type: 'container.act', id, action, timeoutMs}),
		exec: (id: ContainerId, argv: readonly string[], rest: Partial<ExecRequest> = {}) =>
			run<'exec.open'>({type: 'exec.open', request: {id, argv, tty: false, stdin: false, rows: 24, columns: 80, ...rest}}),
		type: (session: string, text: string | Buffer, isLast = false) =>
			run<'exec.write'>({type: 'exec.write', session, data: Buffer.from(text).toString('base64'), isLast}),
		hear: (session: string, waitMs = 60_000, maxBytes = 65_536) => run<'exec.read'>({type: 'exec.read', session, maxBytes, waitMs}),
		/** What a session writes until its end. */
		hearAll: async (session: string): Promise<{stdout: string; stderr: string; exitCode: number}> => {
			const written: Record<'stdout' | 'stderr', Buffer[]> = {stdout: [], stderr: []};
			for (;;) {
				const {parts, end} = await value(run<'exec.read'>({type: 'exec.read', session, maxBytes: 65_536, waitMs: 60_000}));
				for (const {stream, data} of parts) written[stream].push(Buffer.from(data, 'base64'));
				const text = (stream: 'stdout' | 'stderr'): string => Buffer.concat(written[stream]).toString();
				if (end !== undefined) return {stdout: text('stdout'), stderr: text('stderr'), ...end};
			}
		},
		remove: (uid: string) => value(run<'sandbox.remove'>({type: 'sandbox.remove', uid})),
		list: async () => [...(await value(run<'sandbox.list'>({type: 'sandbox.list'})))].sort(),
		/** Resolves when so many ends were told. */
		ends: (count: number): Promise<Told[]> =>
			world.settle(
				new Promise(resolve => {
					onTold = () => told.length >= count && resolve(told);
					onTold();
				}),
			),
		restartAgent: async (meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> => {
			await world.stopAgent();
			await meanwhile();
			world.startAgent();
			listen();
		},
	};
}

const logRequest: Omit<LogRequest, 'id'> = {previous: false, offset: undefined, tailLines: undefined, maxBytes: 65_536, waitMs: 0};

const programsOfHosts: Programs = {
	runs: {image: 'any', argv: ['sleep', 'infinity']},
	succeeds: {image: 'any', argv: ['true']},
	fails: {image: 'any', argv: ['sh', '-c', 'exit 3']},
	ignoresTerm: {image: 'any/ignores-term', argv: ['sh', '-c', "trap '' TERM; echo ready; while :; do sleep 1; done"]},
};

export const mount = (volume: string, where: string, rest: Partial<MountSpec> = {}): MountSpec => ({
	volume,
	path: where,
	subPath: undefined,
	readOnly: false,
	...rest,
});

export const aContainer = (
	program: keyof Programs,
	{uid = 'uid-1', container = 'main', attempt = 0, ...rest}: Partial<ContainerSpec & ContainerId> = {},
): ContainerSpec => ({
	id: {uid, container},
	namespace: 'default',
	podName: `pod-${uid}`,
	attempt,
	...programsOfHosts[program],
	imageId: undefined,
	env: [],
	workingDir: undefined,
	tty: false,
	stdin: false,
	runAsUser: undefined,
	runAsGroup: undefined,
	runAsNonRoot: false,
	allowPrivilegeEscalation: false,
	privileged: false,
	capabilities: {add: [], drop: []},
	seccomp: 'default',
	groups: [],
	groupsPolicy: 'Merge',
	mounts: [],
	readOnlyRoot: false,
	memoryLimitBytes: undefined,
	cpuRequestMillis: undefined,
	cpuLimitMillis: undefined,
	...rest,
});

const main: ContainerId = {uid: 'uid-1', container: 'main'};
const codeOf = <Value>(outcome: Outcome<Value>): string => (outcome.ok ? 'ok' : outcome.error.code);

/** Adds the tests to a file. `makeWorld` gives a fresh node and cleans it up by itself. `isKept`: whether a claim is tested, by its title. */
export function runtimeContract(
	test: TestFn,
	name: string,
	makeWorld: (teardown: (clean: () => Promise<void>) => void) => World,
	isKept: (title: string) => boolean = () => true,
): void {
	const claim = (title: string, check: (t: ExecutionContext, world: World) => Promise<void>): void => {
		if (!isKept(title)) return;
		test(`${name}: ${title}`, async t => {
			await check(
				t,
				makeWorld(clean => t.teardown(clean)),
			);
		});
	};

	claim('a sandbox keeps its address, and no other has it', async (t, world) => {
		const {ensure, list} = driver(world);
		const first = await ensure('uid-1');
		const second = await ensure('uid-2');
		t.deepEqual(await ensure('uid-1'), first);
		t.not(first.podIP, second.podIP);
		t.deepEqual(await list(), ['uid-1', 'uid-2']);
	});

	claim('a start reports the process, and a second one finds it', async (t, world) => {
		const {ensure, start, inspect, told, aContainer} = driver(world);
		await ensure('uid-1');
		const running = await start(aContainer('runs'));
		t.is(running.attempt, 0);
		t.true(running.pid > 1);
		t.deepEqual(await start(aContainer('runs')), running);
		t.deepEqual(await inspect(main), {running, lastExit: undefined, nextAttempt: 1});
		t.deepEqual(told, []);
	});

	claim('a container has a name that tells whose it is, and keeps it', async (t, world) => {
		const {ensure, start, inspect, aContainer} = driver(world);
		await ensure('uid-1');
		const {handle} = await start(aContainer('runs'));
		t.regex(handle, /^[a-z]+:\/\/\S+$/);
		t.is((await inspect(main)).running?.handle, handle);
	});

	claim('an image is asked for before a start, and again, and all images are told', async (t, world) => {
		const {run, value, ensure, aContainer} = driver(world);
		await ensure('uid-1');
		const {id, namespace, podName, image} = aContainer('runs');
		const command = {type: 'image.ensure', id, namespace, podName, image, policy: 'IfNotPresent', secrets: []} as const;
		const {imageId} = await value(run<'image.ensure'>(command));
		t.deepEqual(await value(run<'image.ensure'>(command)), {imageId});
		const {images} = await value(run<'image.list'>({type: 'image.list'}));
		t.is(
			images.some(({id: listed}) => listed === imageId),
			imageId !== undefined,
		);
	});

	claim('two starts at the same time are one', async (t, world) => {
		const {ensure, start, aContainer} = driver(world);
		await ensure('uid-1');
		const [first, second] = await Promise.all([start(aContainer('runs')), start(aContainer('runs'))]);
		t.deepEqual(first, second);
	});

	claim('nothing is known of a container that never was', async (t, world) => {
		const {ensure, inspect, stop} = driver(world);
		await ensure('uid-1');
		for (const id of [main, {uid: 'nowhere', container: 'main'}]) {
			t.deepEqual(await inspect(id), {running: undefined, lastExit: undefined, nextAttempt: 0});
			t.is(await stop(id, 0), null);
		}
	});

	claim('a container without a sandbox does not start', async (t, world) => {
		const {run, aContainer} = driver(world);
		t.is(codeOf(await run({type: 'container.start', spec: aContainer('runs')})), 'ERR_NOT_FOUND');
	});

	claim('a sandbox that is asked for and removed in one breath is not there', async (t, world) => {
		const {ensure, run} = driver(world);
		const asked = ensure('uid-1');
		await run({type: 'sandbox.remove', uid: 'uid-1'});
		await asked;
		t.deepEqual(await run({type: 'sandbox.list'}), {ok: true, value: []});
	});

	claim('an end is told once, with its code, and inspect says the same', async (t, world) => {
		const {ensure, start, ends, inspect, told, aContainer} = driver(world);
		await ensure('uid-1');
		const {startedAtMs, beginning, handle, imageId} = await start(aContainer('fails'));
		const [end] = await ends(1);
		t.deepEqual(end?.id, main);
		t.is(end?.podName, 'pod-uid-1');
		const {finishedAtMs, ...exit} = end?.exit ?? ({} as ContainerExit);
		const began = {handle, ...(imageId === undefined ? {} : {imageId}), ...(beginning === undefined ? {} : {beginning})};
		t.deepEqual(exit, {attempt: 0, exitCode: 3, signal: undefined, startedAtMs, reason: 'Error', ...began});
		t.true(finishedAtMs >= startedAtMs);
		t.deepEqual(await inspect(main), {running: undefined, lastExit: end?.exit, nextAttempt: 1});
		t.is(told.length, 1);
	});

	claim('an end with code 0 is Completed', async (t, world) => {
		const {ensure, start, ends, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('succeeds'));
		const [end] = await ends(1);
		t.is(end?.exit.exitCode, 0);
		t.is(end?.exit.reason, 'Completed');
	});

	claim('a killed program ends with 137', async (t, world) => {
		const {ensure, start, ends, aContainer} = driver(world);
		await ensure('uid-1');
		world.kill(main, await start(aContainer('runs')));
		const [end] = await ends(1);
		t.is(end?.exit.exitCode, 137);
		t.is(end?.exit.signal, 9);
		t.is(end?.exit.reason, 'Error');
	});

	claim('an attempt that is over does not start again, the next one does', async (t, world) => {
		const {ensure, start, ends, run, inspect, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('fails'));
		const [end] = await ends(1);
		t.is(codeOf(await run({type: 'container.start', spec: aContainer('fails')})), 'ERR_RUNTIME');
		const running = await start(aContainer('runs', {attempt: 1}));
		t.deepEqual(await inspect(main), {running, lastExit: end?.exit, nextAttempt: 2});
	});

	claim('two attempts of one container do not run side by side', async (t, world) => {
		const {ensure, start, run, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		t.is(codeOf(await run({type: 'container.start', spec: aContainer('runs', {attempt: 1})})), 'ERR_RUNTIME');
	});

	claim('a stop ends a program by SIGTERM and answers after the end was told', async (t, world) => {
		const {ensure, start, stop, told, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		const exit = await stop(main, 60_000);
		t.is(exit?.exitCode, 143);
		t.deepEqual(
			told.map(end => end.exit),
			[exit],
		);
		t.deepEqual(await stop(main, 60_000), exit);
		t.is(told.length, 1);
	});

	claim('a program that ignores SIGTERM is killed after the grace', async (t, world) => {
		const {ensure, start, stop, log, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('ignoresTerm'));
		await log(main, {waitMs: 10_000}); // Its first words come after it has begun to ignore.
		const exit = await stop(main, 50);
		t.is(exit?.exitCode, 137);
	});

	claim('a shorter grace overtakes a longer one', async (t, world) => {
		const {ensure, start, stop, log, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('ignoresTerm'));
		await log(main, {waitMs: 10_000});
		const [slow, quick] = await Promise.all([stop(main, 3_600_000), stop(main, 0)]);
		t.is(slow?.exitCode, 137);
		t.deepEqual(slow, quick);
	});

	claim('the next agent adopts what runs and tells its end', async (t, world) => {
		const {ensure, start, inspect, restartAgent, ends, told, aContainer} = driver(world);
		await ensure('uid-1');
		const running = await start(aContainer('runs'));
		await restartAgent();
		t.deepEqual(await inspect(main), {running, lastExit: undefined, nextAttempt: 1});
		t.deepEqual(await start(aContainer('runs')), running);
		t.deepEqual(told, []);
		world.kill(main, running);
		const [end] = await ends(1);
		t.is(end?.exit.exitCode, 137);
		t.is(end?.podName, 'pod-uid-1');
	});

	claim('an end without an agent is found, and not told', async (t, world) => {
		const {ensure, start, inspect, restartAgent, told, aContainer} = driver(world);
		await ensure('uid-1');
		const running = await start(aContainer('runs'));
		await restartAgent(async () => {
			world.kill(main, running);
			await world.gone(running);
		});
		const found = await inspect(main);
		t.is(found.running, undefined);
		t.is(found.lastExit?.exitCode, 137);
		t.is(found.lastExit?.startedAtMs, running.startedAtMs);
		t.is(found.nextAttempt, 1);
		t.deepEqual(await inspect(main), found);
		t.deepEqual(told, []);
	});

	claim('what a reboot took is lost, and can be started again', async (t, world) => {
		const {ensure, start, inspect, restartAgent, told, aContainer} = driver(world);
		const {podIP} = await ensure('uid-1');
		await start(aContainer('runs'));
		await restartAgent(() => world.reboot());
		const {running, lastExit, nextAttempt} = await inspect(main);
		t.is(running, undefined);
		t.is(lastExit?.reason, 'LostOnReboot');
		t.is(lastExit?.exitCode, undefined);
		const again = await ensure('uid-1');
		if (world.keepsAddress !== false) t.is(again.podIP, podIP);
		t.is((await start(aContainer('runs', {attempt: nextAttempt}))).attempt, 1);
		t.deepEqual(told, []);
	});

	claim('a removed sandbox leaves nothing, and can be removed twice', async (t, world) => {
		const {ensure, start, remove, list, inspect, ends, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		await start(aContainer('runs', {container: 'second'}));
		t.is(await remove('uid-1'), null);
		t.is((await ends(2)).length, 2);
		t.deepEqual(await list(), []);
		t.is((await inspect(main)).running, undefined);
		t.is(await remove('uid-1'), null);
	});

	claim('the address of a removed sandbox is not given to the next one', async (t, world) => {
		const {ensure, remove} = driver(world);
		const {podIP} = await ensure('uid-1');
		await remove('uid-1');
		t.not((await ensure('uid-2')).podIP, podIP);
	});

	claim('a log is read to its end, in parts', async (t, world) => {
		const {ensure, start, stop, log, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('ignoresTerm'));
		const first = await value(log(main, {waitMs: 10_000}));
		const whole = Buffer.from(first.data, 'base64');
		t.true(whole.length > 0);
		t.false(first.end);
		t.is(first.nextOffset, whole.length);
		const part = await value(log(main, {offset: 2, maxBytes: 3}));
		t.deepEqual(Buffer.from(part.data, 'base64'), whole.subarray(2, 5));
		t.is(part.nextOffset, 5);
		const waiting = log(main, {offset: whole.length, waitMs: 3_600_000});
		await stop(main, 0);
		t.deepEqual(await value(waiting), {data: '', nextOffset: whole.length, endOffset: whole.length, end: true, attempt: 0});
	});

	claim('a piece of a log tells where the log ended, and goes no further than is asked', async (t, world) => {
		const {ensure, start, log, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('ignoresTerm'));
		await log(main, {waitMs: 10_000});
		const whole = await value(log(main));
		t.is(whole.endOffset, whole.nextOffset);
		const part = await value(log(main, {offset: 2, endOffset: 5}));
		const data = Buffer.from(whole.data, 'base64').subarray(2, 5).toString('base64');
		t.deepEqual(part, {data, nextOffset: 5, endOffset: 5, end: false, attempt: 0});
		t.is(codeOf(await log(main, {endOffset: -1})), 'ERR_BAD_REQUEST');
	});

	claim('a wait for more of a log ends in time', async (t, world) => {
		const {ensure, start, log, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('ignoresTerm'));
		const {nextOffset} = await value(log(main, {waitMs: 10_000}));
		t.deepEqual(await value(log(main, {offset: nextOffset, waitMs: 20})), {
			data: '',
			nextOffset,
			endOffset: nextOffset,
			end: false,
			attempt: 0,
		});
	});

	claim('logs that are not there are refused with a reason', async (t, world) => {
		const {ensure, start, ends, log, aContainer} = driver(world);
		t.is(codeOf(await log(main)), 'ERR_NOT_FOUND');
		await ensure('uid-1');
		t.is(codeOf(await log(main)), 'ERR_BAD_REQUEST');
		await start(aContainer('fails'));
		await ends(1);
		const previous = await log(main, {previous: true});
		t.is(previous.ok ? '' : previous.error.message, 'previous terminated container "main" in pod "pod-uid-1" not found');
		t.is(codeOf(await log(main, {maxBytes: 0})), 'ERR_BAD_REQUEST');
		t.is(codeOf(await log(main, {offset: -1})), 'ERR_BAD_REQUEST');
	});

	claim('all that runs is told with what it uses, and nothing else', async (t, world) => {
		const {ensure, start, stop, run, value, aContainer} = driver(world);
		const read = () => value(run<'usage.read'>({type: 'usage.read'}));
		t.deepEqual((await read()).containers, []);
		for (const uid of ['uid-1', 'uid-2']) {
			await ensure(uid);
			await start(aContainer('runs', {uid}));
		}
		const {node, containers} = await read();
		t.deepEqual(containers.map(({id, attempt}) => `${id.uid}/${id.container}/${attempt}`).sort(), ['uid-1/main/0', 'uid-2/main/0']);
		t.true((node.cpuNanos ?? -1) >= 0 && (node.memoryBytes ?? 0) > 0);
		for (const {cpuNanos = -1, memoryBytes = -1} of containers) t.true(cpuNanos >= 0 && memoryBytes >= 0);
		await stop({uid: 'uid-1', container: 'main'}, 0);
		t.deepEqual(
			(await read()).containers.map(({id}) => id.uid),
			['uid-2'],
		);
	});

	claim('the log of the attempt before is kept', async (t, world) => {
		const {ensure, start, ends, log, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('fails'));
		await ends(1);
		await start(aContainer('runs', {attempt: 1}));
		const chunk = await value(log(main, {previous: true}));
		t.is(chunk.attempt, 0);
		t.true(chunk.end || chunk.data !== '');
	});
	claim('a line of a log can have its time before it, and be left out by it', async (t, world) => {
		const {ensure, start, log, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('ignoresTerm'));
		const plain = await value(log(main, {waitMs: 10_000}));
		const stamped = await value(log(main, {timestamps: true}));
		const [, time = '', text] = /^(\S+) (.*)$/s.exec(Buffer.from(stamped.data, 'base64').toString()) ?? [];
		t.is(new Date(time).toISOString(), time);
		t.is(text, Buffer.from(plain.data, 'base64').toString());
		t.is(stamped.nextOffset, plain.nextOffset);
		t.is((await value(log(main, {sinceMs: Date.parse(time) + 3_600_000}))).data, '');
		t.is((await value(log(main, {sinceMs: Date.parse(time) - 3_600_000}))).data, plain.data);
	});

	claim('an action that is a program is ok if that ends with 0', async (t, world) => {
		const {ensure, start, act, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		t.true((await value(act(main, {type: 'exec', argv: ['true']}))).ok);
		const result = await value(act(main, {type: 'exec', argv: ['sh', '-c', 'exit 3']}));
		t.false(result.ok);
		t.is(result.message, 'exit 3');
	});

	claim('nothing is tried in a container that does not run', async (t, world) => {
		const {ensure, start, ends, act, exec, aContainer} = driver(world);
		t.not(codeOf(await act(main, {type: 'exec', argv: ['true']})), 'ok');
		t.not(codeOf(await exec(main, ['true'])), 'ok');
		await ensure('uid-1');
		await start(aContainer('fails'));
		await ends(1);
		t.not(codeOf(await act(main, {type: 'exec', argv: ['true']})), 'ok');
		t.is(codeOf(await exec(main, ['true'])), 'ERR_BAD_REQUEST');
	});

	claim('a session gives what its program writes, and then its exit code', async (t, world) => {
		const {ensure, start, exec, hearAll, hear, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		const {session} = await value(exec(main, ['echo', 'two words', '$HOME']));
		t.deepEqual(await hearAll(session), {stdout: 'two words $HOME\n', stderr: '', exitCode: 0});
		t.is(codeOf(await hear(session)), 'ERR_NOT_FOUND', 'with its end it is forgotten');
		const failing = await value(exec(main, ['sh', '-c', 'exit 7']));
		t.is((await hearAll(failing.session)).exitCode, 7);
	});

	claim('a session takes input until it is closed', async (t, world) => {
		const {ensure, start, exec, type, hear, hearAll, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		const {session} = await value(exec(main, ['cat'], {stdin: true}));
		await value(type(session, 'one\n'));
		const {parts, end} = await value(hear(session));
		t.deepEqual(parts, [{stream: 'stdout', data: Buffer.from('one\n').toString('base64')}]);
		t.is(end, undefined);
		t.deepEqual(await value(hear(session, 20)), {parts: [], end: undefined}, 'a wait for more ends in time');
		await value(type(session, 'two\n', true));
		t.deepEqual(await hearAll(session), {stdout: 'two\n', stderr: '', exitCode: 0});
	});

	claim('a word that is no program ends its session with a reason', async (t, world) => {
		const {ensure, start, exec, hearAll, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		const {session} = await value(exec(main, ['no-such-program']));
		const {stderr, exitCode} = await hearAll(session);
		t.is(exitCode, 127);
		t.regex(stderr, /no-such-program/);
	});

	claim('a closed session is gone, and can be closed twice', async (t, world) => {
		const {ensure, start, exec, run, hear, type, value, aContainer} = driver(world);
		await ensure('uid-1');
		await start(aContainer('runs'));
		const {session} = await value(exec(main, ['cat'], {stdin: true}));
		const waiting = hear(session);
		t.is(await value(run<'exec.close'>({type: 'exec.close', session})), null);
		t.is(codeOf(await waiting), 'ERR_NOT_FOUND');
		t.is(codeOf(await type(session, 'x')), 'ERR_NOT_FOUND');
		t.is(codeOf(await run({type: 'exec.resize', session, rows: 1, columns: 1})), 'ERR_NOT_FOUND');
		t.is(await value(run<'exec.close'>({type: 'exec.close', session})), null);
	});
}
