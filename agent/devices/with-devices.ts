// A node's runtime, of one class or two, with the GPUs of its host: what it says of itself, and which pod has which.
//
// What it keeps true: a device is given to a pod before its sandbox is made, and to another one only once the pod has released it or nothing is left
// of it. Where there is none the pod waits: it is not failed, for what has just ended gives its own back a moment later than its end is told, and a
// node that has fewer than it had may have them again. What has a sandbox already is never held up: it runs, or it is over.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {gpuResource} from '../../api/gpu.js';
import type {
	ContainerDevices,
	ContainerSpec,
	Device,
	RuntimeCommand,
	RuntimeEvent,
	RuntimeResults,
	SandboxSpec,
} from '../../actors/node/runtime/runtime-port.js';
import type {RuntimeInfo} from '../../actors/protocol/runtime-info.js';
import {systemFailure} from '../os/explained.js';
import {handleSome, type Done, type Handlers} from '../handlers.js';
import type {NodeRuntime} from '../runtimes.js';
import type {Devices} from './devices.js';

type CommandOf<Type extends RuntimeCommand['type']> = Extract<RuntimeCommand, {type: Type}>;

type State = {
	readonly runtime: NodeRuntime;
	readonly devices: Devices;
	/** Sandboxes that are being made: nothing tells of them yet. */
	readonly making: Set<CommandOf<'sandbox.ensure'>>;
	/** By pod, commands that wait until the one before has gone on to the runtime, or is done. */
	readonly queues: Map<string, (() => void)[]>;
	/** Pods for which too few devices were free, in the order in which they came. */
	readonly waiting: Map<string, SandboxSpec>;
	/** The question under way of what is left of pods. */
	look: Look | undefined;
	tell: (event: RuntimeEvent) => void;
};

/** `suspects`: what had devices when it was asked, and has not come again since. */
type Look = {readonly suspects: Set<string>; readonly askers: ((there: ReadonlySet<string>) => void)[]};

/** The same runtime where the host has none. */
export function withDevices(runtime: NodeRuntime, devices: Devices): NodeRuntime {
	const state: State = {
		...{runtime, devices},
		making: new Set(),
		queues: new Map(),
		waiting: new Map(),
		look: undefined,
		tell: () => undefined,
	};
	const own: Partial<Handlers> = {
		'sandbox.ensure': (command, done) => ensure(state, command, done),
		'sandbox.remove': (command, done) => inOrder(state, command.uid, goOn => remove(state, command, done, goOn)),
		'container.start': (command, done) => start(state, command, done),
		'devices.release': ({uid}, done) => inOrder(state, uid, goOn => release(state, uid, done, goOn)),
	};
	runtime.onEvent(event => state.tell(event));
	devices.onNews(() => {
		state.tell({type: 'infoChanged'});
		callWaiting(state);
	});
	return {
		...runtime,
		info: () => infoWith(runtime.info(), devices.present().length),
		run(command, done) {
			if (!handleSome(own, command, done)) runtime.run(command, done);
		},
		onEvent: next => void (state.tell = next),
		close() {
			devices.close();
			return runtime.close();
		},
	};
}

function infoWith(info: RuntimeInfo, gpus: number): RuntimeInfo {
	if (gpus === 0) return info;
	const {classes = [], features, conditions} = info;
	// What mounts volumes takes devices away from a program, too.
	const isOpen = classes.includes('process') && !features.includes('volumes');
	return {...info, gpus, conditions: isOpen ? [...conditions, sharedDevices] : conditions};
}

const sharedDevices: RuntimeInfo['conditions'][number] = {
	type: 'SharedDevices',
	reason: 'NoNamespaces',
	message: `this agent may not make namespaces of mounts: pods are told which ${gpuResource} are theirs, and can open all of them`,
};

/** Goes on once it is on disk which pod has which. */
function saved({devices}: State, done: (refusal: Outcome<never>) => void, then: () => void): void {
	devices.allotment.saved().then(then, (error: unknown) => done(systemFailure(error)));
}

/** Commands of one pod reach the runtime in the order in which they came: what is removed is not made afterwards. */
function inOrder({queues}: State, uid: string, run: (goOn: () => void) => void): void {
	const queue = queues.get(uid);
	const goOn = (): void => {
		const next = queues.get(uid)?.shift();
		if (next === undefined) queues.delete(uid);
		else next();
	};
	if (queue !== undefined) return void queue.push(() => run(goOn));
	queues.set(uid, []);
	run(goOn);
}

// ---- sandboxes -------------------------------------------------------------------------------------------------------------

function ensure(state: State, command: CommandOf<'sandbox.ensure'>, done: Done<RuntimeResults['sandbox.ensure']>): void {
	const {runtime, making, look} = state;
	const {uid, gpus = 0} = command.spec;
	const passOn = (answer: typeof done, goOn: () => void): void => {
		runtime.run<'sandbox.ensure'>(command, answer);
		goOn();
	};
	if (gpus === 0) return inOrder(state, uid, goOn => passOn(done, goOn));
	making.add(command);
	look?.suspects.delete(uid);
	const answer: typeof done = outcome => {
		making.delete(command);
		done(outcome);
	};
	inOrder(state, uid, goOn => {
		const refuse: typeof done = outcome => {
			answer(outcome);
			goOn();
		};
		take(state, command.spec, gpus, refusal => {
			if (refusal !== undefined) return refuse(failed('ERR_RUNTIME', {message: refusal}));
			saved(state, refuse, () => passOn(answer, goOn));
		});
	});
}

/** Calls back with why it cannot have them. */
function take(state: State, spec: SandboxSpec, count: number, done: (refusal: string | undefined) => void): void {
	const {uid} = spec;
	const {allotment, present} = state.devices;
	state.waiting.delete(uid);
	const problem = allotment.problem();
	const isTaken = (): boolean => allotment.take(uid, count, indexesOf(present())) !== undefined;
	if (isTaken()) return done(undefined);
	forgetGone(state, there => {
		if (isTaken() || there.has(uid)) return done(undefined);
		const asks = `the pod asks for ${count} ${gpuResource}`;
		if (problem !== undefined) return done(`${asks}, and ${problem}`);
		state.waiting.set(uid, spec);
		const all = present().length;
		const free = all === 0 ? 'and this node has none now' : `and this node has ${all}, of which too few are free`;
		done(`${asks}, ${free}: the pod waits for them`);
	});
}

const indexesOf = (devices: readonly Device[]): readonly number[] => devices.map(({index}) => index);

/** What an agent was to give back that ended before it did. Calls back with the pods of which something is there. */
function forgetGone(state: State, then: (there: ReadonlySet<string>) => void): void {
	const {runtime, making, look} = state;
	const {allotment} = state.devices;
	if (look !== undefined) return void look.askers.push(then);
	const suspects = new Set(allotment.holders());
	for (const {spec} of making) suspects.delete(spec.uid);
	const asked: Look = {suspects, askers: [then]};
	state.look = asked;
	runtime.run<'sandbox.list'>({type: 'sandbox.list'}, outcome => {
		state.look = undefined;
		const there = new Set(outcome.ok ? outcome.value : []);
		const gone = outcome.ok ? [...suspects].filter(uid => !there.has(uid)) : [];
		for (const uid of gone) allotment.forget(uid);
		for (const each of asked.askers) each(there);
		if (gone.length > 0) callWaiting(state);
	});
}

function remove(state: State, command: CommandOf<'sandbox.remove'>, done: Done<null>, goOn: () => void): void {
	const {runtime, devices, waiting} = state;
	const {uid} = command;
	waiting.delete(uid);
	const answer: typeof done = outcome => {
		done(outcome);
		goOn();
	};
	runtime.run<'sandbox.remove'>(command, outcome => {
		if (!outcome.ok || devices.allotment.of(uid) === undefined) return answer(outcome);
		devices.allotment.forget(uid);
		callWaiting(state);
		saved(state, answer, () => answer(outcome));
	});
}

function release(state: State, uid: string, done: Done<null>, goOn: () => void): void {
	state.devices.allotment.release(uid);
	callWaiting(state);
	saved(state, done, () => done(succeeded(null)));
	goOn();
}

/** Has those that waited ask again for whom enough is free now, who came first before the others. */
function callWaiting({devices, waiting, tell}: State): void {
	if (waiting.size === 0) return;
	let free = devices.allotment.free(indexesOf(devices.present())).length;
	for (const {uid, namespace, name, gpus = 0} of waiting.values()) {
		if (gpus > free) continue;
		free -= gpus;
		tell({type: 'devicesFree', uid, namespace, podName: name});
	}
}

// ---- containers --------------------------------------------------------------------------------------------------------------

function start({runtime, devices}: State, command: CommandOf<'container.start'>, done: Done<RuntimeResults['container.start']>): void {
	const found = devicesOf(devices, command.spec);
	if (typeof found === 'string')
		return done(failed('ERR_RUNTIME', {message: `container "${command.spec.id.container}" cannot start: ${found}`}));
	runtime.run<'container.start'>(found === undefined ? command : {...command, spec: {...command.spec, devices: found}}, done);
}

/** Undefined: the host has none, and the container wants none. A text: why it cannot have its own. */
function devicesOf({allotment, files}: Devices, {id, gpus}: ContainerSpec): ContainerDevices | string | undefined {
	const all = files();
	if (gpus === undefined) return all.length === 0 ? undefined : {own: [], others: all.map(({file}) => file)};
	const indexes = (allotment.of(id.uid) ?? []).slice(gpus.first, gpus.first + gpus.count);
	const own = indexes.flatMap(index => all.find(each => each.index === index) ?? []);
	if (indexes.length < gpus.count) return allotment.problem() ?? `its pod has not the ${gpuResource} that it asks for`;
	if (own.length < gpus.count) return `this node has a ${gpuResource} no more that its pod was given`;
	return {own, others: all.filter(each => !own.includes(each)).map(({file}) => file)};
}
