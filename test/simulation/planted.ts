// Bugs that are planted on purpose: each must be found by some seed. A check that finds none of them is worth nothing.

import {limits} from '../../api/limits.js';
import {controlDesign} from '../../actors/control/design.js';
import type {DetectorState} from '../../actors/control/detector.js';
import type {Control} from '../../actors/control/start.js';
import type {LeasesState} from '../../actors/node/leases.js';
import type {Node} from '../../actors/node/start.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior, Context, Message, Next} from '../../system/behavior.js';
import type {SystemDesign} from '../../system/durable-system.js';
import {silenceMs} from '../../system/membership.js';
import type {Known} from '../../system/object-index.js';
import type {RunOptions} from './run.js';
import type {ScenarioName} from './scenarios.js';

export type PlantedBug = {
	readonly name: string;
	readonly options: RunOptions;
	/** Where it is looked for; all scenarios when none is named. */
	readonly scenario?: ScenarioName;
	/** The invariant that notices it. */
	readonly breaks: RegExp;
};

function withBehavior(name: string, change: (behavior: AnyBehavior) => AnyBehavior): SystemDesign {
	const behavior = controlDesign.behaviors[name];
	if (behavior === undefined) throw new Error(`no behaviour ${name}`);
	return {...controlDesign, behaviors: {...controlDesign.behaviors, [name]: change(behavior)}};
}

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

/** Without what is open: each wake asks for everything again. */
const forgetting = (context: Context): Context => contextOf(context, context.known, new Map());

/** What is open is known to be so, but not what it is. */
function roomy(context: Context): Context {
	const open = [...context.pending.keys()].map(id => [id, {type: 'delete', key: '', uid: '', id}] as const);
	return contextOf(context, context.known, new Map(open));
}

/** Effects run, and the asker is answered, before the store has the write. */
function repliesEarly({system, pipeline, index}: Control): void {
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

/** For it no pod is exclusive: it gives each away as soon as its node is lost. */
const leaseless = (behavior: AnyBehavior): AnyBehavior => ({
	...behavior,
	receive: (state: unknown, message: Message, context: Context) =>
		behavior.receive(state, message, contextOf(context, withoutAnnotations(context.known), context.pending)) as Next<unknown>,
});

function withoutAnnotations(known: Known): Known {
	const plain = (object: ApiObject): ApiObject => ({...object, metadata: {...object.metadata, annotations: {}}});
	return {
		...known,
		version: known.version,
		get: key => known.get(key),
		list: plural => known.list(plural),
		countByTerm: (plural, term) => known.countByTerm(plural, term),
		sumByTerm: (plural, term) => known.sumByTerm(plural, term),
		byTerm: (plural, term) => [...known.byTerm(plural, term)].map(plain),
	};
}

/** Its leases last from when they were confirmed. */
const slowCounting = (behavior: AnyBehavior): AnyBehavior => ({
	...behavior,
	receive(state: unknown, message: Message, context: Context) {
		const {sentAtMs, ...rest} = state as LeasesState;
		const counted =
			message.type === 'leasesRenewed' ? new Map([...sentAtMs.keys()].map(number => [number, context.monotonicMs])) : sentAtMs;
		return behavior.receive({...rest, sentAtMs: counted}, message, context) as Next<unknown>;
	},
});

function countsLate({system}: Node): void {
	const {behaviors} = system.options;
	const {Leases} = behaviors;
	if (Leases !== undefined) Object.assign(system.options, {behaviors: {...behaviors, Leases: slowCounting(Leases)}});
}

export const plantedBugs: readonly PlantedBug[] = [
	{name: 'a reply before its commit', options: {sabotage: repliesEarly}, breaks: /^I2/},
	{
		name: 'a lost wake',
		options: {
			design: {...controlDesign, resync: false, wakesOf: (change, known) => [...controlDesign.wakesOf(change, known)].slice(1)},
		},
		breaks: /^I5/,
	},
	{
		name: 'a double create',
		options: {
			design: withBehavior('ReplicaSet', behavior => ({
				...behavior,
				receive: (state: unknown, message: Message, context: Context) =>
					behavior.receive(state, message, forgetting(context)) as Next<unknown>,
			})),
		},
		scenario: 'mixed',
		breaks: /^I5/,
	},
	{
		name: 'a bind under way that takes no room',
		options: {
			design: withBehavior('Scheduler', behavior => ({
				...behavior,
				receive: (state: unknown, message: Message, context: Context) => behavior.receive(state, message, roomy(context)) as Next<unknown>,
			})),
		},
		scenario: 'crowded',
		breaks: /^I9/,
	},
	{
		name: 'an eviction by a sick observer',
		options: {design: withBehavior('Detector', hasty)},
		scenario: 'nodeLoss',
		breaks: /^I8: .* by an observer/,
	},
	{
		name: 'an exclusive pod that is given away before its lease is over',
		options: {design: withBehavior('Detector', leaseless)},
		scenario: 'partition',
		breaks: /^I1: exclusive/,
	},
	{
		name: 'a lease that counts from its confirmation',
		options: {nodeSabotage: countsLate},
		scenario: 'nodeLoss',
		breaks: /^I1: exclusive/,
	},
	{
		name: 'a scale that is answered and not written',
		options: {
			design: withBehavior('ReplicaSet', behavior => ({
				...behavior,
				receive(state: unknown, message: Message, context: Context) {
					const step = behavior.receive(state, message, context) as Next<unknown>;
					return message.type === 'patch' ? {...step, state} : step;
				},
			})),
		},
		breaks: /^I2/,
	},
];
