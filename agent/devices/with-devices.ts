// A node's runtime, of one class or two, with the GPUs of its host: what it says of itself, and which pod has which.
//
// What it keeps true: a device is given to a pod before its sandbox is made, and to another one only once the pod has released it or nothing is left
// of it. Where there is none the pod waits: it is not failed, for what has just ended gives its own back a moment later than its end is told, and a
// node that has fewer than it had may have them again.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {gpuResource} from '../../api/gpu.js';
import type {
	ContainerDevices,
	ContainerSpec,
	RuntimeCommand,
	RuntimeEvent,
	RuntimeResults,
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
	/** Pods whose sandbox is being made: nothing tells of them yet. */
	readonly making: Set<string>;
};

/** The same runtime where the host has none. */
export function withDevices(runtime: NodeRuntime, devices: Devices): NodeRuntime {
	const state: State = {runtime, devices, making: new Set()};
	const own: Partial<Handlers> = {
		'sandbox.ensure': (command, done) => ensure(state, command, done),
		'sandbox.remove': (command, done) => remove(state, command, done),
		'container.start': (command, done) => start(state, command, done),
		'devices.release'({uid}, done) {
			devices.allotment.release(uid);
			saved(state, done, () => done(succeeded(null)));
		},
	};
	let tell: (event: RuntimeEvent) => void = () => undefined;
	runtime.onEvent(event => tell(event));
	devices.onNews(() => tell({type: 'infoChanged'}));
	return {
		...runtime,
		info: () => infoWith(runtime.info(), devices.present().length),
		run(command, done) {
			if (!handleSome(own, command, done)) runtime.run(command, done);
		},
		onEvent: next => void (tell = next),
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

// ---- sandboxes -------------------------------------------------------------------------------------------------------------

function ensure(state: State, command: CommandOf<'sandbox.ensure'>, done: Done<RuntimeResults['sandbox.ensure']>): void {
	const {runtime, making} = state;
	const {uid, gpus = 0} = command.spec;
	if (gpus === 0) return runtime.run<'sandbox.ensure'>(command, done);
	making.add(uid);
	const answer: typeof done = outcome => {
		making.delete(uid);
		done(outcome);
	};
	take(state, uid, gpus, refusal => {
		if (refusal !== undefined) return answer(failed('ERR_RUNTIME', {message: refusal}));
		saved(state, answer, () => runtime.run<'sandbox.ensure'>(command, answer));
	});
}

/** Calls back with why it cannot have them. */
function take(state: State, uid: string, count: number, done: (refusal: string | undefined) => void): void {
	const {allotment, present} = state.devices;
	const isTaken = (): boolean =>
		allotment.take(
			uid,
			count,
			present().map(({index}) => index),
		) !== undefined;
	const asks = `the pod asks for ${count} ${gpuResource}`;
	const problem = allotment.problem();
	if (problem !== undefined) return done(`${asks}, and ${problem}`);
	if (isTaken()) return done(undefined);
	forgetGone(state, () => {
		if (isTaken()) return done(undefined);
		const all = present().length;
		const there = all === 0 ? 'and this node has none now' : `and this node has ${all}, of which too few are free`;
		done(`${asks}, ${there}: the pod waits for them`);
	});
}

/** What an agent was to give back that ended before it did. */
function forgetGone({runtime, devices, making}: State, then: () => void): void {
	runtime.run<'sandbox.list'>({type: 'sandbox.list'}, outcome => {
		if (outcome.ok) {
			const there = new Set([...outcome.value, ...making]);
			for (const uid of devices.allotment.holders()) if (!there.has(uid)) devices.allotment.forget(uid);
		}
		then();
	});
}

function remove(state: State, command: CommandOf<'sandbox.remove'>, done: Done<null>): void {
	const {runtime, devices} = state;
	runtime.run<'sandbox.remove'>(command, outcome => {
		if (!outcome.ok || devices.allotment.of(command.uid) === undefined) return done(outcome);
		devices.allotment.forget(command.uid);
		saved(state, done, () => done(outcome));
	});
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
	if (indexes.length < gpus.count) return `its pod has not the ${gpuResource} that it asks for`;
	if (own.length < gpus.count) return `this node has a ${gpuResource} no more that its pod was given`;
	return {own, others: all.filter(each => !own.includes(each)).map(({file}) => file)};
}
