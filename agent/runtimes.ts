// One runtime of one or two: each pod is run by the runtime of its class, and the node's actors know nothing of that.
//
// Where a pod is, is known from its sandbox: told when that is made, asked for otherwise. Nothing of it is kept; the sandboxes are the truth.

import type {Socket} from 'node:net';
import {AppError, failed, succeeded, type Outcome} from '../api/errors.js';
import {runtimeClasses, type RuntimeClass} from '../api/runtime-class.js';
import type {
	ExitListener,
	Runtime,
	RuntimeCommand,
	RuntimeEvent,
	RuntimeResults,
	UsageSample,
} from '../actors/node/runtime/runtime-port.js';
import type {RuntimeInfo} from '../actors/protocol/runtime-info.js';
import {handle, type Done, type Handlers} from './handlers.js';
import type {DockerRuntime} from './docker-runtime.js';
import type {ProcessRuntime} from './process-runtime.js';
import {noInstance, noSession} from './refusals.js';

/** A runtime, and where it runs instances of functions the ways to them. */
export type NodeRuntime = Runtime &
	Partial<Pick<ProcessRuntime | DockerRuntime, 'connectFunction'>> &
	Partial<Pick<ProcessRuntime, 'functionPlace'>>;

export type RuntimesOptions = {
	/** At least one. */
	readonly runtimes: {readonly [Class in RuntimeClass]?: NodeRuntime};
	/** Nobody asked for Docker: as long as it was not there and no pod of it is, that is nothing to tell. */
	readonly isDockerOptional?: boolean;
	/** Called once, as soon as an Engine answers, before the first command that it gets after that. */
	readonly onDocker?: () => void;
};

type Part = {readonly name: RuntimeClass; readonly runtime: NodeRuntime};

type State = {
	readonly options: RuntimesOptions;
	readonly parts: readonly [Part, ...Part[]];
	/** Of pods whose sandbox was made or found. */
	readonly places: Map<string, Part>;
	/** What waits, by pod, until it is known where that is: in order. */
	readonly looking: Map<string, ((place: Place) => void)[]>;
	hasDocker: boolean;
	tell: (event: RuntimeEvent) => void;
};

/** Null: it is nowhere. A failure: a runtime did not say whether it is there. */
type Place = Outcome<Part | null>;

/** Throws an Error where there is no runtime. */
export function joinRuntimes(options: RuntimesOptions): NodeRuntime {
	const [first, ...rest] = runtimeClasses.flatMap((name): Part[] => {
		const runtime = options.runtimes[name];
		return runtime === undefined ? [] : [{name, runtime}];
	});
	if (first === undefined) throw new Error('there is no runtime to join');
	const state: State = {
		options,
		parts: [first, ...rest],
		places: new Map(),
		looking: new Map(),
		hasDocker: false,
		tell: () => undefined,
	};
	const handlers = handlersOf(state);
	let listener: ExitListener = () => undefined;
	for (const {runtime} of state.parts) {
		runtime.onExit((container, exit) => listener(container, exit));
		runtime.onEvent(event => {
			if (event.type === 'infoChanged') noteDocker(state);
			state.tell(event);
		});
	}
	noteDocker(state);
	const runsFunctions = state.parts.some(({runtime}) => runtime.connectFunction !== undefined);
	const {functionPlace} = options.runtimes.process ?? {};
	return {
		...(runsFunctions ? {connectFunction: (uid: string) => connectFunction(state, uid)} : {}),
		...(functionPlace === undefined ? {} : {functionPlace}),
		info: () => infoOf(state),
		run: (command, done) => handle(handlers, command, done),
		onExit: next => void (listener = next),
		onEvent: next => void (state.tell = next),
		close: () => Promise.all(state.parts.map(({runtime}) => runtime.close())).then(() => undefined),
	};
}

// ---- what the node says of itself ----------------------------------------------------------------------------------------

/** What pods of one class alone may ask for; anything else is said of processes where both are there. */
const ofDocker: readonly string[] = ['privileged'];

const runsDocker = ({classes = []}: RuntimeInfo): boolean => classes.includes('docker');

function noteDocker(state: State): void {
	if (state.hasDocker || !state.parts.some(({runtime}) => runsDocker(runtime.info()))) return;
	state.hasDocker = true;
	state.options.onDocker?.();
}

function infoOf({options, parts, hasDocker, places}: State): RuntimeInfo {
	const infos = parts.map(({runtime}) => runtime.info());
	const [first = parts[0].runtime.info(), ...others] = infos;
	const {name, version} = infos.find(runsDocker) ?? first;
	const isHidden = options.isDockerOptional === true && !hasDocker && ![...places.values()].some(part => part.name === 'docker');
	const told = parts.flatMap(part => (part.name === 'docker' && isHidden ? [] : part.runtime.info().conditions));
	return {
		...first,
		name,
		version,
		classes: infos.flatMap(({classes = ['process']}) => classes),
		features: [...first.features, ...others.flatMap(({features}) => features.filter(feature => ofDocker.includes(feature)))],
		conditions: told.filter(({type}, index) => told.findIndex(each => each.type === type) === index),
	};
}

// ---- where commands go -----------------------------------------------------------------------------------------------------

type CommandOf<Type extends RuntimeCommand['type']> = Extract<RuntimeCommand, {type: Type}>;

function handlersOf(state: State): Handlers {
	/** To the runtime that has the pod; to the first where none has it, which says so in its words. */
	const toPod =
		<Type extends RuntimeCommand['type']>(uidOf: (command: CommandOf<Type>) => string) =>
		(command: CommandOf<Type>, done: Done<RuntimeResults[Type]>): void =>
			withPlace(state, uidOf(command), place => {
				if (place.ok) (place.value ?? state.parts[0]).runtime.run<Type>(command, done);
				else done(place);
			});
	const toImages = state.parts.find(({name}) => name === 'docker') ?? state.parts[0];
	return {
		'sandbox.ensure': (command, done) => ensure(state, command, done),
		'sandbox.remove': (command, done) => remove(state, command, done),
		'sandbox.list': (_command, done) => listSandboxes(state, outcome => done(outcome)),
		'volumes.ensure': toPod<'volumes.ensure'>(({uid}) => uid),
		'volume.remove': (command, done) => removeVolume(state, command, done),
		'usage.read': (command, done) =>
			fromAll<'usage.read'>(state.parts, command, outcome => done(outcome.ok ? succeeded(joinedSample(outcome.value)) : outcome)),
		'volume.measure': (command, done) => state.parts[0].runtime.run<'volume.measure'>(command, done),
		'image.ensure': toPod<'image.ensure'>(({id}) => id.uid),
		'image.list': (command, done) =>
			fromAll<'image.list'>(state.parts, command, outcome =>
				done(outcome.ok ? succeeded({images: outcome.value.flatMap(({images}) => images)}) : outcome),
			),
		'image.open': (command, done) => toImages.runtime.run<'image.open'>(command, outcome => done(sessionOf(toImages, outcome))),
		'container.start': toPod<'container.start'>(({spec}) => spec.id.uid),
		'container.inspect': toPod<'container.inspect'>(({id}) => id.uid),
		'container.stop': toPod<'container.stop'>(({id}) => id.uid),
		'container.act': toPod<'container.act'>(({id}) => id.uid),
		'logs.read': toPod<'logs.read'>(({request}) => request.id.uid),
		'exec.open': (command, done) => openIn(state, command.request.id.uid, command, done),
		'forward.open': (command, done) => openIn(state, command.request.uid, command, done),
		'exec.write': (command, done) =>
			withSession(state, command.session, done, (runtime, session) => runtime.run<'exec.write'>({...command, session}, done)),
		'exec.read': (command, done) =>
			withSession(state, command.session, done, (runtime, session) => runtime.run<'exec.read'>({...command, session}, done)),
		'exec.resize': (command, done) =>
			withSession(state, command.session, done, (runtime, session) => runtime.run<'exec.resize'>({...command, session}, done)),
		'exec.close': (command, done) =>
			withSession(state, command.session, done, (runtime, session) => runtime.run<'exec.close'>({...command, session}, done)),
		'stdin.write': toPod<'stdin.write'>(({id}) => id.uid),
		'lease.extend': toPod<'lease.extend'>(({uid}) => uid),
		'devices.release': toPod<'devices.release'>(({uid}) => uid),
	};
}

/** Opens a session at the runtime that has the pod. */
function openIn(state: State, uid: string, command: CommandOf<'exec.open' | 'forward.open'>, done: Done<{readonly session: string}>): void {
	withPlace(state, uid, place => {
		if (!place.ok) return done(place);
		const part = place.value ?? state.parts[0];
		part.runtime.run<'exec.open' | 'forward.open'>(command, outcome => done(sessionOf(part, outcome)));
	});
}

/** Sessions are counted by each runtime for itself. */
const sessionOf = ({name}: Part, outcome: Outcome<{readonly session: string}>): Outcome<{readonly session: string}> =>
	outcome.ok ? succeeded({session: `${name}/${outcome.value.session}`}) : outcome;

function withSession({parts}: State, id: string, done: Done<never>, run: (runtime: Runtime, session: string) => void): void {
	const [name, session] = id.split(/\/(.*)/s);
	const part = parts.find(each => each.name === name);
	if (part !== undefined && session !== undefined) run(part.runtime, session);
	else done(noSession(id));
}

/** What all of them answer, in order; the first failure when one fails. */
function fromAll<Type extends RuntimeCommand['type']>(
	parts: readonly Part[],
	command: CommandOf<Type>,
	done: (outcome: Outcome<readonly RuntimeResults[Type][]>) => void,
): void {
	const answers: Outcome<RuntimeResults[Type]>[] = [];
	let left = parts.length;
	if (left === 0) return done(succeeded([]));
	for (const [index, {runtime}] of parts.entries())
		runtime.run<Type>(command, outcome => {
			answers[index] = outcome;
			if (--left === 0) done(joined(answers));
		});
}

function joined<Value>(answers: readonly Outcome<Value>[]): Outcome<readonly Value[]> {
	const values: Value[] = [];
	for (const answer of answers) {
		if (!answer.ok) return answer;
		values.push(answer.value);
	}
	return succeeded(values);
}

/** All of them tell of the same host. */
function joinedSample([first, ...others]: readonly UsageSample[]): UsageSample {
	if (first === undefined) throw new Error('there is no runtime to ask');
	const all = [first, ...others];
	return {...first, traffic: all.flatMap(({traffic = []}) => traffic), containers: all.flatMap(({containers}) => containers)};
}

/** With the runtime that has the pod. Rejects with Errors for people. */
async function connectFunction(state: State, uid: string): Promise<Socket> {
	const place = await new Promise<Place>(resolve => withPlace(state, uid, resolve));
	if (!place.ok) throw AppError.of(place.error);
	const {connectFunction: connect} = (place.value ?? state.parts[0]).runtime;
	if (connect === undefined) throw AppError.of(noInstance(uid).error);
	return connect(uid);
}

// ---- sandboxes -------------------------------------------------------------------------------------------------------------

function ensure(state: State, command: CommandOf<'sandbox.ensure'>, done: Done<RuntimeResults['sandbox.ensure']>): void {
	const {uid, runtimeClass} = command.spec;
	const part = state.parts.find(({name}) => name === runtimeClass);
	if (part === undefined)
		return done(failed('ERR_RUNTIME', {message: `the agent of this node runs no pods of class "${runtimeClass}" (--runtime)`}));
	const make = (): void => {
		const place = state.places.get(uid);
		if (place !== undefined && place !== part)
			return done(failed('ERR_RUNTIME', {message: `the pod runs as class "${place.name}" and cannot become "${runtimeClass}"`}));
		moved(state, uid, part);
		part.runtime.run<'sandbox.ensure'>(command, done);
	};
	// What waits for its place was asked for before.
	const waiting = state.looking.get(uid);
	if (waiting === undefined) make();
	else waiting.push(make);
}

/** Where it is nowhere to be seen, each looks for what is left of it. */
function remove(state: State, command: CommandOf<'sandbox.remove'>, done: Done<null>): void {
	withPlace(state, command.uid, place => {
		if (!place.ok) return done(place);
		fromAll<'sandbox.remove'>(place.value === null ? state.parts : [place.value], command, outcome => {
			if (outcome.ok) state.places.delete(command.uid);
			done(outcome.ok ? succeeded(null) : outcome);
		});
	});
}

function listSandboxes(state: State, done: (outcome: Outcome<readonly string[]>) => void): void {
	fromAll<'sandbox.list'>(state.parts, {type: 'sandbox.list'}, outcome => {
		if (!outcome.ok) return done(outcome);
		for (const [index, part] of state.parts.entries()) for (const uid of outcome.value[index] ?? []) moved(state, uid, part);
		done(succeeded(outcome.value.flat()));
	});
}

/** A pod of Docker that is found makes its absence worth telling. */
function moved(state: State, uid: string, part: Part): void {
	if (state.places.get(uid) === part) return;
	const isFirst = part.name === 'docker' && ![...state.places.values()].includes(part);
	state.places.set(uid, part);
	if (isFirst && state.options.isDockerOptional === true && !state.hasDocker) state.tell({type: 'infoChanged'});
}

/** Goes on with the runtime that has the pod; commands of one pod stay in order. */
function withPlace(state: State, uid: string, then: (place: Place) => void): void {
	const {parts, places, looking} = state;
	const waiting = looking.get(uid);
	if (waiting !== undefined) return void waiting.push(then);
	const known = parts.length === 1 ? parts[0] : places.get(uid);
	if (known !== undefined) return then(succeeded(known));
	looking.set(uid, [then]);
	listSandboxes(state, outcome => {
		const waited = looking.get(uid) ?? [];
		looking.delete(uid);
		for (const each of waited) each(outcome.ok ? succeeded(places.get(uid) ?? null) : outcome);
	});
}

// ---- volumes ---------------------------------------------------------------------------------------------------------------

/** The folders are those of the node: a pod of any class may have them. */
function removeVolume(state: State, command: CommandOf<'volume.remove'>, done: Done<null>): void {
	const [{runtime}, ...others] = state.parts;
	fromAll<'volume.remove'>(others, {...command, onlyCheck: true}, outcome => {
		if (outcome.ok) runtime.run<'volume.remove'>(command, done);
		else done(outcome);
	});
}
