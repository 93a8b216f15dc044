// Bugs that are planted on purpose: each must be found by some seed. A check that finds none of them is worth nothing.

import {limits} from '../../api/limits.js';
import {controlDesign} from '../../actors/control/design.js';
import type {Outcome} from '../../api/errors.js';
import type {JobStatus} from '../../api/kinds/job.js';
import type {ContainerStatus} from '../../api/kinds/pod.js';
import type {DetectorState, SignsMessage} from '../../actors/control/nodes/detector.js';
import type {ControlSystem} from '../../actors/control/start.js';
import type {ContainerChanged} from '../../actors/node/containers/container-state.js';
import type {LeasesState} from '../../actors/node/pods/leases.js';
import type {ContainerObservation} from '../../actors/node/runtime/runtime-port.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior, Context, Effect, Message, Next} from '../../system/kernel/behavior.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';
import {silenceMs} from '../../system/presence/membership.js';
import type {Known} from '../../system/index/object-index.js';
import type {RunOptions} from './run.js';
import type {ScenarioName} from './scenarios.js';

export type PlantedBug = {
	readonly name: string;
	readonly options: RunOptions;
	/** Where it is looked for; all scenarios when none is named. */
	readonly scenario?: ScenarioName;
	/** Its history is made small, as an example. */
	readonly shrinks?: true;
	/** The invariant that notices it. */
	readonly breaks: RegExp;
};

type Step = Next<unknown>;
type Receive = (state: unknown, message: Message, context: Context) => Step;
type Wrong = (receive: Receive, state: unknown, message: Message, context: Context) => Step;

/** The same behaviour, that takes messages in another way. */
const taking = (behavior: AnyBehavior, wrong: Wrong): AnyBehavior => ({
	...behavior,
	receive: (state: unknown, message: Message, context: Context) =>
		wrong((...args) => behavior.receive(...args) as Step, state, message, context),
});

function withBehavior(name: string, change: (behavior: AnyBehavior) => AnyBehavior): SystemDesign {
	const behavior = controlDesign.behaviors[name];
	if (behavior === undefined) throw new Error(`no behaviour ${name}`);
	return {...controlDesign, behaviors: {...controlDesign.behaviors, [name]: change(behavior)}};
}

/** A control plane in which one kind of actor takes messages in another way. */
const inControl = (name: string, wrong: Wrong): RunOptions => ({design: withBehavior(name, behavior => taking(behavior, wrong))});

/** The same on all nodes. */
const onNodes = (name: string, wrong: Wrong): RunOptions => ({
	nodeSabotage({system}) {
		const {behaviors} = system.options;
		const behavior = behaviors[name];
		if (behavior === undefined) throw new Error(`no behaviour ${name}`);
		Object.assign(system.options, {behaviors: {...behaviors, [name]: taking(behavior, wrong)}});
	},
});

/** What it asks for is something else, or nothing. */
const asking =
	(change: (effect: Effect, context: Context) => readonly Effect[]): Wrong =>
	(receive, state, message, context) => {
		const step = receive(state, message, context);
		return {...step, effects: step.effects.flatMap(effect => change(effect, context))};
	};

/** It sees objects otherwise than they are. */
const seeing =
	(change: (object: ApiObject) => ApiObject | undefined): Wrong =>
	(receive, state, message, context) =>
		receive(state, message, contextOf(context, knownAs(context.known, change), context.pending));

/** Of some messages it makes others, or hears nothing of them. */
const hearing =
	(change: (message: Message, context: Context) => Message | undefined): Wrong =>
	(receive, state, message, context) => {
		const heard = change(message, context);
		return heard === undefined ? {state, effects: []} : receive(state, heard, context);
	};

const without =
	(type: string) =>
	(effect: Effect): readonly Effect[] =>
		effect.type === 'tell' && effect.message.type === type ? [] : [effect];

/** What one child of a pod's hand is told another one is told too. */
const alsoTo =
	(type: string, child: string, other: string) =>
	(effect: Effect, {self, hasChild}: Context): readonly Effect[] => {
		const isIt = effect.type === 'tell' && effect.message.type === type && effect.to === `${self}/${child}` && hasChild(other);
		return isIt ? [effect, {...effect, to: `${self}/${other}`}] : [effect];
	};

/** Changes that somebody is not told of. */
const deaf = (isMissed: (to: string, message: Message) => boolean, options: {readonly resync?: boolean} = {}): RunOptions => ({
	design: {
		...controlDesign,
		...options,
		wakesOf: (change, known) => [...controlDesign.wakesOf(change, known)].filter(({to, message}) => !isMissed(to, message)),
	},
});

/** The same context with other eyes. */
const contextOf = ({self, cause, nowMs, monotonicMs, children, random}: Context, known: Known, pending: Context['pending']): Context => ({
	cause,
	self,
	nowMs,
	monotonicMs,
	children,
	hasChild: () => false,
	random,
	known,
	pending,
});

/** Sets of a Deployment get another size than was decided. */
const resized =
	(size: (replicas: number) => number) =>
	(effect: Effect): readonly Effect[] => {
		if (effect.type !== 'update' || !effect.id.startsWith('scale/')) return [effect];
		const {patch} = effect.message as Message & {readonly patch: {readonly spec?: {readonly replicas?: number}}};
		const replicas = patch.spec?.replicas;
		return replicas === undefined
			? [effect]
			: [{...effect, message: {...effect.message, patch: {...patch, spec: {...patch.spec, replicas: size(replicas)}}} as Message}];
	};

/** Pods that it makes get names by chance. */
const chanceNames: Wrong = asking((effect, {random}) => {
	if (effect.type !== 'create' || effect.object.kind !== 'Pod') return [effect];
	const name = `chance-${Math.floor(random.next() * 1e9)}`;
	return [{...effect, id: `create/${name}`, object: {...effect.object, metadata: {...effect.object.metadata, name}}}];
});

/** It does not see pods that are being deleted. */
const blindToLeaving = seeing(object => (object.kind === 'Pod' && object.metadata.deletionTimestamp !== undefined ? undefined : object));

/** What is open is known to be so, but not what it is. */
function roomy(context: Context): Context {
	const open = [...context.pending.keys()].map(id => [id, {type: 'delete', key: '', uid: '', id}] as const);
	return contextOf(context, context.known, new Map(open));
}

/** Effects run, and the asker is answered, before the store has the write. */
function repliesEarly({system, pipeline, index}: ControlSystem): void {
	const {persistent} = system.options;
	if (persistent === undefined) return;
	const submit: typeof persistent.submit = submission => {
		if (submission.object === undefined) return persistent.submit(submission);
		const {key, object} = submission;
		const version = pipeline.meta.version + 1;
		const told = {...object, metadata: {...object.metadata, resourceVersion: String(version)}};
		const entry = {key, object: told, version, previous: version - 1, json: () => JSON.stringify(told)};
		persistent.submit({...submission, done: () => undefined});
		submission.done({ok: true, change: {key, version, previous: version - 1, before: index.entry(key), after: entry}});
	};
	Object.assign(system.options, {persistent: {...persistent, submit}});
}

/** Silence is enough for it: be it that it stood still itself, or that nobody at all is heard. */
const hasty = (behavior: AnyBehavior): AnyBehavior => ({
	...behavior,
	receive(state: unknown, message: Message, context: Context) {
		const step = behavior.receive(state, message, context) as Next<DetectorState>;
		const {membership} = step.state;
		if (message.type !== 'signs' || membership === undefined) return step;
		const members = new Map(
			[...membership.members].map(([name, member]) => {
				const isSilent = silenceMs(membership, member) >= limits.nodeGraceMs;
				return [name, isSilent ? {...member, state: 'dead' as const, isEvictable: true} : member];
			}),
		);
		return behavior.receive({...step.state, membership: {...membership, members}}, {type: 'more'}, context) as Next<unknown>;
	},
});

function knownAs(known: Known, change: (object: ApiObject) => ApiObject | undefined): Known {
	const all = (objects: Iterable<ApiObject>): ApiObject[] => [...objects].flatMap(object => change(object) ?? []);
	return {
		...known,
		version: known.version,
		get: key => {
			const object = known.get(key);
			return object && change(object);
		},
		list: plural => all(known.list(plural)),
		countOf: (plural, namespace) => known.countOf(plural, namespace),
		countInNamespace: namespace => known.countInNamespace(namespace),
		countByTerm: (plural, term) => known.countByTerm(plural, term),
		sumByTerm: (plural, term) => known.sumByTerm(plural, term),
		byTerm: (plural, term) => all(known.byTerm(plural, term)),
		byOwner: uid => all(known.byOwner(uid)),
		select: (plural, namespace, selector) => all(known.select(plural, namespace, selector)),
		byUid: uid => {
			const object = known.byUid(uid);
			return object && change(object);
		},
		inNamespace: namespace => known.inNamespace(namespace),
	};
}

const plain = (object: ApiObject): ApiObject => ({...object, metadata: {...object.metadata, annotations: {}}});

/** A node whose spec says nothing of these. */
const nodeWithout =
	(field: string) =>
	(object: ApiObject): ApiObject =>
		object.kind === 'Node' ? {...object, spec: {...(object.spec as object), [field]: undefined}} : object;

/** Its leases last longer than control counts on, by more than control leaves them. */
const slowCounting: Wrong = (receive, state, message, context) => {
	const {sentAtMs, ...rest} = state as LeasesState;
	const counted = message.type === 'leasesRenewed' ? new Map([...sentAtMs].map(([number, atMs]) => [number, atMs + 5_000])) : sentAtMs;
	return receive({...rest, sentAtMs: counted}, message, context);
};

type RecordState = {readonly object: ApiObject | undefined};

/** Nobody holds what is to be deleted. */
function letGo(state: RecordState, {type}: Message): RecordState {
	const {object} = state;
	if (object?.metadata.finalizers === undefined || type !== 'delete') return state;
	const {finalizers: _, ...metadata} = object.metadata;
	return {...state, object: {...object, metadata}};
}

/** A message one member of which is there only as long as nobody writes it down. */
const hidden = (message: Message): Message => Object.defineProperty({...message}, 'complete', {enumerable: false});

/** What is asked of it is answered, and nothing else. */
const answersOnly: Wrong = (receive, state, message, context) => {
	const step = receive(state, message, context);
	return message.type === 'patch' ? {...step, state} : step;
};

/** An agent that came back finds nothing. */
function unseen(message: Message): Message {
	if (message.type !== 'inspected') return message;
	const {outcome} = message as Message & {readonly outcome: Outcome<ContainerObservation>};
	return outcome.ok ? ({...message, outcome: {ok: true, value: {...outcome.value, running: undefined}}} as Message) : message;
}

/** The detector with some of its memory changed. */
const remembering =
	(change: (membership: NonNullable<DetectorState['membership']>) => Partial<NonNullable<DetectorState['membership']>>): Wrong =>
	(receive, state, message, context) => {
		const {membership} = state as DetectorState;
		const changed = membership === undefined ? undefined : {...membership, ...change(membership)};
		return receive({...(state as DetectorState), membership: changed}, message, context);
	};

/** Reports of a container, with another status. */
const reporting = (change: (status: ContainerStatus) => ContainerStatus): Wrong =>
	asking(effect => {
		if (effect.type !== 'tell' || effect.message.type !== 'containerChanged') return [effect];
		const message = effect.message as Message & ContainerChanged;
		return [{...effect, message: {...message, status: change(message.status)} as Message}];
	});

type WithConditions = {readonly conditions?: readonly {readonly type: string; readonly status: string}[]};

/** Pods with another condition Ready than they have. */
const withReady =
	(status: string) =>
	(object: ApiObject): ApiObject => {
		if (object.kind !== 'Pod') return object;
		const before = (object.status ?? {}) as WithConditions;
		const others = (before.conditions ?? []).filter(({type}) => type !== 'Ready');
		return {...object, status: {...before, conditions: [...others, {type: 'Ready', status}]}};
	};
const readyAtOnce = withReady('True');
const neverReady = withReady('False');

function withoutAnnotations(effect: Effect): readonly Effect[] {
	if (effect.type !== 'create' || effect.object.kind !== 'Pod') return [effect];
	const {annotations: _annotations, ...metadata} = effect.object.metadata;
	return [{...effect, object: {...effect.object, metadata}}];
}

/** Another name for each pod, and no memory of what was asked for. */
const forgetful: Wrong = (receive, state, message, context) =>
	chanceNames(receive, state, message, contextOf(context, context.known, new Map()));

/** To its own eyes it is otherwise than it is; what it makes of its status is written. */
const mistaken =
	(change: (object: ApiObject) => ApiObject): Wrong =>
	(receive, state, message, context) => {
		const {object} = state as RecordState;
		if (message.type !== 'wake' || object === undefined) return receive(state, message, context);
		const changed = change(object);
		const step = receive({...(state as RecordState), object: changed}, message, context) as Next<RecordState>;
		const after = step.state.object;
		if (after === undefined) return step;
		const kept = after === changed ? object : {...after, spec: object.spec};
		return {...step, state: {...step.state, object: kept}};
	};

const statusWithout =
	(...fields: readonly string[]) =>
	(object: ApiObject): ApiObject => ({
		...object,
		status: Object.fromEntries(Object.entries(object.status ?? {}).filter(([name]) => !fields.includes(name))),
	});

/** The end of a pod is a number at once, and noted nowhere. */
const countedAtOnce: Wrong = (receive, state, message, context) => {
	const step = receive(state, message, context) as Next<RecordState>;
	const {object} = step.state;
	const status = (object?.status ?? {}) as JobStatus;
	const {succeeded = [], failed = []} = status.uncountedTerminatedPods ?? {};
	if (object === undefined || succeeded.length + failed.length === 0) return step;
	const counted = {succeeded: (status.succeeded ?? 0) + succeeded.length, failed: (status.failed ?? 0) + failed.length};
	return {...step, state: {...step.state, object: {...object, status: {...status, ...counted, uncountedTerminatedPods: {}}}}};
};

/** Whoever begins has not looked at any Job yet, and acts. */
const blindAtFirst = (behavior: AnyBehavior): AnyBehavior => ({
	...behavior,
	resume(state: unknown, context: Context) {
		const step = behavior.resume?.(state, context) as Next<object>;
		return {...step, state: {...step.state, isNew: true}};
	},
	receive(state: unknown, message: Message, context: Context) {
		const {isNew, ...rest} = state as {readonly isNew?: boolean};
		if (isNew !== true || message.type !== 'wake') return behavior.receive(state, message, context) as Step;
		const known = knownAs(context.known, object => (object.kind === 'Job' ? undefined : object));
		return behavior.receive(rest, message, contextOf(context, known, context.pending)) as Step;
	},
});

/** A set as if nothing were under way that it was asked for. */
const hasSeenAll = (object: ApiObject): ApiObject =>
	object.kind === 'ReplicaSet' ? {...object, status: {...(object.status ?? {}), observedGeneration: object.metadata.generation}} : object;

/** Nobody uses it, as far as it sees. */
const unused: Wrong = (receive, state, message, context) => {
	const {known} = context;
	const blind = {
		...knownAs(known, object => object),
		countByTerm: (plural: string, term: string) => (plural === 'pods' ? 0 : known.countByTerm(plural, term)),
	};
	return receive(state, message, contextOf(context, blind, context.pending));
};

/** It gives out evictions by who is healthy, and not by what is given out already. */
const forgetsGiven: Wrong = (receive, state, message, context) => {
	const {object} = state as RecordState;
	const isAsked = message.type === 'disrupt' && object !== undefined;
	return receive(isAsked ? {...(state as RecordState), object: statusWithout('disruptedPods')(object)} : state, message, context);
};

/** An object that is being deleted. */
const leaving =
	(kind: string) =>
	(object: ApiObject): ApiObject =>
		object.kind === kind ? {...object, metadata: {...object.metadata, deletionTimestamp: object.metadata.creationTimestamp}} : object;

export const plantedBugs: readonly PlantedBug[] = [
	// ---- the store, and who leads
	{name: 'a reply before its commit', options: {sabotage: repliesEarly}, breaks: /^I2/},
	{name: 'a scale that is answered and not written', options: inControl('ReplicaSet', answersOnly), breaks: /^I2/},
	{
		name: 'a leader that goes on after its term',
		options: {goesOn: true},
		scenario: 'leaderChange',
		breaks: /^leader: .* after/,
	},
	{name: 'a damaged record that is served', options: {trustsStores: true}, scenario: 'storeTrouble', breaks: /^I2: a store was loaded/},
	{
		name: 'a pod that goes although somebody holds it',
		options: inControl('Pod', (receive, state, message, context) => receive(letGo(state as RecordState, message), message, context)),
		scenario: 'configured',
		breaks: /^I2: .* held it/,
	},
	// ---- wakes
	{
		name: 'a lost wake',
		options: {
			design: {...controlDesign, resync: false, wakesOf: (change, known) => [...controlDesign.wakesOf(change, known)].slice(1)},
		},
		breaks: /^I5/,
	},
	{
		name: 'a lost wake that a resync makes good',
		options: {design: {...controlDesign, wakesOf: (change, known) => [...controlDesign.wakesOf(change, known)].slice(1)}},
		breaks: /^I5/,
	},
	{name: 'a set that is not told of its pods', options: deaf(to => to.includes('/replicasets/')), breaks: /^I5/},
	{name: 'a scheduler that is not told of pods', options: deaf((_to, {type}) => type === 'more'), breaks: /^I[59]/},
	{
		name: 'a scheduler that is not told of changed nodes',
		options: deaf((_to, {type}) => type === 'nodeChanged'),
		scenario: 'crowded',
		breaks: /^I9/,
	},
	{name: 'a node that is not told of changes', options: deaf((_to, {type}) => type === 'dirty'), breaks: /^I5/},
	{
		name: 'a pod that is not told that its node has a taint',
		options: deaf(to => to.includes('/pods/')),
		scenario: 'crowded',
		breaks: /^I[59]/,
	},
	{
		name: 'a node that is not told of ConfigMaps and Secrets',
		options: deaf((_to, message) => message.type === 'dirty' && !(message as Message & {readonly key: string}).key.startsWith('pods/')),
		scenario: 'configured',
		breaks: /^I5/,
	},
	{
		name: 'a container that is not told of its ConfigMap',
		options: onNodes(
			'Hand',
			hearing(message => (message.type === 'configChanged' ? undefined : message)),
		),
		scenario: 'configured',
		breaks: /^I5/,
	},
	// ---- Services
	{
		name: 'a Service that is not told of its pods',
		options: deaf(to => to.includes('/services/')),
		scenario: 'exposed',
		breaks: /^I5: service [^ ]+: ready pods/,
	},
	{
		name: 'a node that is not told of endpoints that change',
		options: deaf(
			(_to, message) => message.type === 'dirty' && (message as Message & {readonly key: string}).key.startsWith('endpointslices/'),
		),
		scenario: 'exposed',
		breaks: /^I5: service .* on node-/,
	},
	{
		name: 'a node that is not told what went while its record was written',
		options: inControl(
			'NodeDispatcher',
			hearing(message => (message.type === 'heardTaken' ? undefined : message)),
		),
		scenario: 'exposed',
		breaks: /^I5: node-\d+ still serves/,
	},
	{
		name: 'a data plane that is not told of changes',
		options: onNodes(
			'Network',
			hearing(message => (message.type === 'networkChanged' ? undefined : message)),
		),
		scenario: 'exposed',
		breaks: /^I5: service .* on node-/,
	},
	// ---- sidecars
	{
		name: 'a main container that begins with the first sidecar',
		options: onNodes('Hand', asking(alsoTo('begin', 'first', 'main'))),
		scenario: 'mixed',
		breaks: /^I19: .* starts/,
	},
	{
		name: 'a sidecar that ends with what it is there for',
		options: onNodes('Hand', asking(alsoTo('stopContainer', 'main', 'first'))),
		scenario: 'mixed',
		breaks: /^I19: .* is to end/,
	},
	// ---- sets and the scheduler
	{
		name: 'a double create',
		options: inControl('ReplicaSet', (receive, state, message, context) =>
			receive(state, message, contextOf(context, context.known, new Map())),
		),
		scenario: 'mixed',
		breaks: /^I5/,
	},
	{
		name: 'a bind under way that takes no room',
		options: inControl('Scheduler', (receive, state, message, context) => receive(state, message, roomy(context))),
		scenario: 'crowded',
		breaks: /^I9: \d+ thousandths/,
		shrinks: true,
	},
	{
		name: 'a bind to a node that is cordoned',
		options: inControl('Scheduler', seeing(nodeWithout('unschedulable'))),
		scenario: 'crowded',
		breaks: /^I9: .* cordoned/,
	},
	{
		name: 'a bind to a node with a taint',
		options: inControl('Scheduler', seeing(nodeWithout('taints'))),
		scenario: 'crowded',
		breaks: /^I9: .* does not bear maintenance/,
	},
	{
		name: 'a toleration that is over at once',
		options: inControl(
			'Pod',
			asking((effect, {self}) => [
				effect.type === 'wakeAt' && effect.name === 'taint' ? {type: 'tell', to: self, message: effect.message} : effect,
			]),
		),
		scenario: 'crowded',
		breaks: /^I9: .* before its time/,
	},
	{
		name: 'a toleration that is never over',
		options: inControl(
			'Pod',
			asking(effect => (effect.type === 'wakeAt' && effect.name === 'taint' ? [] : [effect])),
		),
		scenario: 'crowded',
		breaks: /^I9: .* any more/,
	},
	// ---- who is there
	{
		name: 'an eviction by a sick observer',
		options: {design: withBehavior('Detector', hasty)},
		scenario: 'nodeLoss',
		breaks: /^I8: .* by an observer/,
	},
	{
		name: 'an observer that takes silence of all for death',
		options: inControl(
			'Detector',
			remembering(({startedAtMs}) => ({majoritySinceMs: startedAtMs})),
		),
		scenario: 'partition',
		breaks: /^I8: .* half of the nodes/,
	},
	{
		name: 'an observer that hears beats only',
		options: inControl(
			'Detector',
			hearing(message => (message.type === 'signs' ? ({...message, packets: []} as Message) : message)),
		),
		scenario: 'mixed',
		breaks: /^I8: .* after a packet/,
	},
	{
		name: 'an observer that does not hear who will be back',
		options: inControl(
			'Detector',
			hearing(message => {
				if (message.type !== 'signs') return message;
				const signs = message as SignsMessage;
				return {...signs, presences: signs.presences.filter(({state}) => state !== 'restarting')};
			}),
		),
		scenario: 'nodeLoss',
		breaks: /^I8: .* will be back/,
	},
	// ---- exclusive pods
	{
		name: 'an exclusive pod that is given away before its lease is over',
		options: inControl('Detector', seeing(plain)),
		scenario: 'partition',
		breaks: /^I1: exclusive/,
	},
	{
		name: 'a lease that its holder counts on for longer than control does',
		options: onNodes('Leases', slowCounting),
		scenario: 'nodeLoss',
		breaks: /^I1: exclusive/,
	},
	{
		name: 'a set that makes the next exclusive pod too early',
		options: inControl('ReplicaSet', (receive, state, message, context) =>
			blindToLeaving((...step) => chanceNames(receive, ...step), state, message, context),
		),
		scenario: 'mixed',
		breaks: /^I1: exclusive/,
	},
	// ---- between control and its nodes
	{
		name: 'a hello that brings only what is wanted',
		options: inControl(
			'NodeDispatcher',
			hearing(message => (message.type === 'hello' ? ({...message, have: {}} as Message) : message)),
		),
		scenario: 'partition',
		breaks: /^I5/,
	},
	{
		name: 'a report that is taken and not committed',
		options: inControl(
			'NodeDispatcher',
			hearing(message => (message.type === 'statusTaken' ? ({...message, outcome: {ok: true, value: null}} as Message) : message)),
		),
		scenario: 'storeTrouble',
		breaks: /^I5/,
	},
	{name: 'a pod of which nobody says that it is gone', options: onNodes('SyncClient', asking(without('podGone'))), breaks: /^I5/},
	{name: 'a hand that keeps what is not its own any more', options: onNodes('Hand', asking(without('stopContainer'))), breaks: /^I5/},
	{
		name: 'a window that does not open again',
		options: inControl('NodeDispatcher', (receive, state, message, context) =>
			message.type === 'deltaTaken' ? {state, effects: []} : receive(state, message, context),
		),
		scenario: 'large',
		breaks: /^I5/,
	},
	{
		name: 'an answer to the hello that no bus can carry',
		options: inControl(
			'NodeDispatcher',
			asking(effect => [effect.type === 'tell' && effect.message.type === 'delta' ? {...effect, message: hidden(effect.message)} : effect]),
		),
		breaks: /^I5/,
	},
	{
		name: 'a node that is told anew only what it asks for',
		options: onNodes(
			'SyncClient',
			hearing(message => (message.type === 'callHello' ? undefined : message)),
		),
		breaks: /^I5/,
	},
	// ---- rollouts
	{
		name: 'a Deployment that makes one pod too many',
		options: inControl('Deployment', asking(resized(replicas => replicas + 1))),
		scenario: 'rollouts',
		breaks: /^I11: .* is pod number/,
	},
	{
		name: 'a Deployment that scales down one available pod too many',
		options: inControl('Deployment', asking(resized(replicas => Math.max(0, replicas - 1)))),
		scenario: 'rollouts',
		breaks: /^I11: .* available are left/,
	},
	{
		name: 'a Deployment that takes a step before its sets have seen the one before',
		options: inControl('Deployment', seeing(hasSeenAll)),
		scenario: 'rollouts',
		breaks: /^I11: .* has not seen the one before/,
	},
	{
		name: 'changes that Deployments are not told of',
		options: deaf((to, message) => message.type === 'wake' && to.includes('/deployments/'), {resync: false}),
		scenario: 'rollouts',
		breaks: /^I5: deployment/,
	},
	// ---- programs
	{name: 'a container that does not see what runs already', options: onNodes('Container', hearing(unseen)), breaks: /^I[145]/},
	{
		name: 'a program that fails and is started again at once',
		options: onNodes(
			'Container',
			asking((effect, {nowMs}) => [effect.type === 'wakeAt' && effect.name === 'retry' ? {...effect, atMs: nowMs + 1} : effect]),
		),
		breaks: /^I7/,
	},
	{
		name: 'a restart that is counted twice',
		options: onNodes(
			'Container',
			reporting(status => ({...status, restartCount: status.restartCount * 2})),
		),
		breaks: /^I10: .* restart/,
	},
	{
		name: 'an end that is told with another exit code',
		options: onNodes(
			'Container',
			reporting(status => ({
				...status,
				...(status.lastState?.terminated === undefined ? {} : {lastState: {terminated: {...status.lastState.terminated, exitCode: 0}}}),
			})),
		),
		breaks: /^I10: .* ended/,
	},
	{
		name: 'an end that is not told',
		options: onNodes(
			'Container',
			reporting(({lastState: _, ...status}) => status),
		),
		breaks: /^I10: .* how it ended/,
	},
	// ---- StatefulSets and DaemonSets
	{
		name: 'a StatefulSet that takes every pod for ready',
		options: inControl('StatefulSet', seeing(readyAtOnce)),
		scenario: 'named',
		breaks: /^I13/,
	},
	{
		name: 'a StatefulSet whose pods may run twice',
		options: inControl('StatefulSet', asking(withoutAnnotations)),
		scenario: 'named',
		breaks: /^I1: exclusive/,
	},
	{
		name: 'a DaemonSet that gives its pods names by chance and does not see what is under way',
		options: inControl('DaemonSet', forgetful),
		scenario: 'named',
		breaks: /^I12/,
	},
	{
		name: 'a DaemonSet that takes no pod for ready',
		options: inControl('DaemonSet', seeing(neverReady)),
		scenario: 'named',
		breaks: /^I12: .* is without one/,
	},
	{
		name: 'a history that nobody shortens',
		options: inControl(
			'StatefulSet',
			asking(effect => (effect.type === 'delete' && effect.key.startsWith('controllerrevisions/') ? [] : [effect])),
		),
		scenario: 'named',
		breaks: /^I5: db has \d revisions/,
	},
	// ---- quotas and budgets
	{
		name: 'pods that were let through and take no place yet',
		options: inControl('collection:pods', (receive, state, message, context) =>
			receive({...(state as object), coming: []}, message, context),
		),
		scenario: 'bounded',
		breaks: /^I17/,
	},
	{
		name: 'a budget that forgets what it has given out',
		options: inControl('PodDisruptionBudget', forgetsGiven),
		scenario: 'bounded',
		breaks: /^I18/,
	},
	// ---- claims
	{
		name: 'a claim that goes while a pod has it',
		options: inControl('PersistentVolumeClaim', unused),
		scenario: 'claims',
		breaks: /^I16: .* has it/,
	},
	// ---- Jobs and CronJobs
	{
		name: 'an end that is a number before it is noted',
		options: inControl('Job', countedAtOnce),
		scenario: 'jobs',
		breaks: /^I14: .* has not noted its end/,
	},
	{
		name: 'ends that are noted and forgotten',
		options: inControl('Job', mistaken(statusWithout('uncountedTerminatedPods'))),
		scenario: 'jobs',
		breaks: /^I14: .* were noted/,
	},
	{
		name: 'an index that is taken again',
		options: inControl('Job', mistaken(statusWithout('completedIndexes'))),
		scenario: 'jobs',
		breaks: /^I14: .* takes an index again/,
	},
	{
		name: 'a Job that gives its pods names by chance and does not see what is under way',
		options: inControl('Job', forgetful),
		scenario: 'jobs',
		breaks: /^I14: .* (is pod number|second pod of its index)/,
	},
	{
		name: 'a Job that does not know that it is to end',
		options: inControl('Job', mistaken(statusWithout('conditions'))),
		scenario: 'jobs',
		breaks: /^I14: .* is not any more/,
	},
	{
		name: 'a suspended Job that makes pods',
		options: inControl(
			'Job',
			mistaken(job => ({...job, spec: {...(job.spec as object), suspend: false}})),
		),
		scenario: 'jobs',
		breaks: /^I14: .* is suspended/,
	},
	{
		name: 'a pod that its Job does not hold',
		options: inControl('Pod', seeing(leaving('Job'))),
		scenario: 'jobs',
		breaks: /^I14: .* is let go/,
	},
	{
		name: 'a CronJob that knows only the times whose jobs are there',
		options: inControl('CronJob', mistaken(statusWithout('lastScheduleTime'))),
		scenario: 'schedules',
		breaks: /^I15: .* a time that was run/,
	},
	{
		name: 'a job that goes before its time is noted',
		options: inControl('Job', seeing(leaving('CronJob'))),
		scenario: 'schedules',
		breaks: /^I15: .* was not noted/,
	},
	{
		name: 'a CronJob that begins and has not looked at its jobs',
		options: {design: withBehavior('CronJob', blindAtFirst)},
		scenario: 'schedules',
		breaks: /^I15: .* with Forbid/,
	},
	{
		name: 'a history of jobs that nobody shortens',
		options: inControl(
			'CronJob',
			asking(effect => (effect.type === 'delete' ? [] : [effect])),
		),
		scenario: 'schedules',
		breaks: /^I15: .* keeps \d+ jobs/,
	},
];
