// Tells what serves traffic on this node what the cache knows of the network: all of it at the start, then what changes, in order.
//
// One command is under way at a time; what changes meanwhile goes in the next, the newest of each key. After one that failed nobody knows what was
// taken: all is told again, ever more slowly. Ready instances of functions are passed on as their hands tell. Policies go by themselves, all of them at each change of one, so that none waits behind what is under way.

import type {ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import type {Known} from '../../../system/index/object-index.js';
import {exponentialBackoffMs} from '../../../system/kernel/restart-policy.js';
import {isPolicyKey, networkPlurals, policies, services} from '../../network-references.js';
import type {NetworkObject, ReadyInstance} from '../../protocol/network-object.js';
import {cachedConfig, type ConfigCopy} from '../cache/config-copy.js';
import type {NetworkChange, NetworkCommand, NetworkStatus} from '../runtime/network-port.js';

/** The cache has another one of it, or none any more. */
export type NetworkChanged = {readonly type: 'networkChanged'; readonly key: ObjectKey};

/** From the hand of a pod that is an instance of a function: it is ready from now on; null: no more. */
export type InstanceChanged = {readonly type: 'instanceChanged'; readonly uid: string; readonly instance: ReadyInstance | null};

export type NetworkMessage =
	| NetworkChanged
	| InstanceChanged
	/** From the edge. */
	| {readonly type: 'networkStatus'; readonly status: NetworkStatus}
	| {readonly type: 'flush'}
	| {readonly type: 'again'}
	| Reply<null, 'networkTaken'>
	/** What waits for nothing was taken. */
	| Reply<null, 'heard'>;

export type NetworkState = {
	/** Changed since the last command. */
	readonly changed: ReadonlySet<ObjectKey>;
	readonly isUnderWay: boolean;
	/** Commands that failed since one that did not. */
	readonly failures: number;
	readonly services: number;
	readonly status: NetworkStatus | undefined;
	/** Why the last command failed. */
	readonly problem: string | undefined;
};

export const network: Behavior<null, NetworkState, NetworkMessage> = {
	kind: 'Network',
	init(_input, context) {
		const state = {changed: new Set<ObjectKey>(), isUnderWay: false, failures: 0, services: 0, status: undefined, problem: undefined};
		const first = replaced(state, context);
		return next(first.state, [enforced(context), ...first.effects]);
	},
	receive(state, message, context) {
		switch (message.type) {
			case 'networkChanged':
				return isPolicyKey(message.key) ? next(state, [enforced(context)]) : changed(state, message.key, context);
			case 'instanceChanged':
				return next(state, [instanceTold(message)]);
			case 'networkStatus':
				return next({...state, status: message.status});
			case 'flush':
				return flush(state, context);
			case 'again':
				return replaced(state, context);
			case 'networkTaken':
				return taken(state, message, context);
			case 'heard':
				return next(state);
		}
	},
	coalesce(message) {
		if (message.type === 'networkChanged') return message.key;
		if (message.type === 'instanceChanged') return `instance ${message.uid}`;
		return message.type === 'networkTaken' || message.type === 'heard' ? undefined : message.type;
	},
	pastIntensity: 'backOff',
	describe: described,
	trouble: ({status, problem}) => [...(status?.problems ?? []), ...(problem === undefined ? [] : [problem])].join('; ') || undefined,
};

function described({services: count, status}: NetworkState): string {
	if (count === 0 && status?.pid === undefined) return '';
	return [servedBy(status), `${count} ${count === 1 ? 'service' : 'services'}`].join(', ');
}

function servedBy(status: NetworkStatus | undefined): string {
	if (status?.pid === undefined) return 'no data plane';
	const memory = status.memoryBytes === undefined ? '' : `, ${Math.round(status.memoryBytes / 1_048_576)} MiB`;
	return `data plane ${status.pid}${memory}`;
}

/** Rules of the kernel wait for nothing: what serves traffic may be away, or slow. */
function changed(state: NetworkState, key: ObjectKey, context: Context): Next<NetworkState> {
	const {state: then, effects} = flush({...state, changed: new Set(state.changed).add(key)}, context);
	const command: NetworkCommand = {type: 'network.learn', changes: [changeOf(key, context)]};
	return next(then, [{type: 'perform', command, key: 'learned', as: 'heard'}, ...effects]);
}

function instanceTold({uid, instance}: InstanceChanged): Effect {
	const command: NetworkCommand = {type: 'network.instance', uid, instance};
	return {type: 'perform', command, key: `instance ${uid}`, as: 'heard'};
}

const changeOf = (key: ObjectKey, {known}: Context): NetworkChange => ({key, object: objectOf(cachedConfig(known, key))});

/** While one is under way, or the wait after a failure, what has changed is only remembered. */
function flush(state: NetworkState, context: Context): Next<NetworkState> {
	if (state.changed.size === 0 || state.isUnderWay || state.failures > 0) return next(state);
	const changes = [...state.changed].map(key => changeOf(key, context));
	return next({...state, changed: new Set(), isUnderWay: true, services: countOf(context.known)}, [
		perform({type: 'network.change', changes}),
	]);
}

function replaced(state: NetworkState, {known}: Context): Next<NetworkState> {
	if (state.isUnderWay) return next(state);
	return next({...state, changed: new Set(), isUnderWay: true, services: countOf(known)}, [
		perform({type: 'network.replace', changes: allOf(known)}),
	]);
}

const perform = (command: NetworkCommand): Effect => ({type: 'perform', command, key: 'network', as: 'networkTaken'});

function enforced({known}: Context): Effect {
	const all = [...known.list(policies)].flatMap(object => {
		const found = objectOf((object as ConfigCopy).spec);
		return found?.type === 'policy' ? [found] : [];
	});
	const command: NetworkCommand = {type: 'network.enforce', policies: all};
	return {type: 'perform', command, key: 'policies', as: 'heard'};
}

function allOf(known: Known): readonly NetworkChange[] {
	return networkPlurals
		.filter(plural => plural !== policies)
		.flatMap(plural =>
			[...known.list(plural)].flatMap(object => {
				const {metadata, spec} = object as ConfigCopy;
				const found = objectOf(spec);
				return found === undefined ? [] : [{key: metadata.uid, object: found}];
			}),
		);
}

const objectOf = (spec: ConfigCopy['spec']): NetworkObject | undefined => (spec?.named.type === 'network' ? spec.named.object : undefined);

function countOf(known: Known): number {
	let count = 0;
	for (const _service of known.list(services)) count++;
	return count;
}

function taken(before: NetworkState, {outcome}: Reply<null, 'networkTaken'>, context: Context): Next<NetworkState> {
	const state = {...before, isUnderWay: false};
	if (outcome.ok) return flush({...state, failures: 0, problem: undefined}, context);
	const failures = state.failures + 1;
	const delayMs = exponentialBackoffMs(failures, limits.networkAgainFirstMs, limits.networkAgainMaxMs);
	return next({...state, failures, problem: outcome.error.message}, [
		{type: 'wakeAt', name: 'again', atMs: context.nowMs + delayMs, message: {type: 'again'}},
	]);
}
