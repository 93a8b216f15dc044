// The leases of a node's exclusive pods. A pod runs only while its lease is held; the runtime kills it at the lease's end, by itself and by
// watchdogs outside of this process, so a lease counts as held only once these stand.
//
// Everything is counted by the monotonic clock from the moment at which a renewal was sent. Nothing is kept: after a restart of the agent
// the runtime goes by the ends of before until the first renewal, and after a crash of this actor every hand asks once more.

import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {next, tell, type Behavior, type Context, type Effect, type Next, type Reply} from '../../../system/kernel/behavior.js';
import {dispatcherOfNode, podsPath} from '../../addresses.js';
import type {LeasedPod, LeasesRenewed, RenewLeases} from '../../protocol/lease-message.js';
import {perform} from '../runtime/perform.js';

export type LeasesInput = {readonly node: string};

/** A hand asks for the lease of its pod, and is told `leaseHeld` and `leaseLost`, until it wants it no more. */
export type WantLease = LeasedPod & {readonly type: 'wantLease'; readonly owner: string};
export type UnwantLease = {readonly type: 'unwantLease'; readonly uid: string};

export type LeaseHeld = {readonly type: 'leaseHeld'};
export type LeaseLost = {readonly type: 'leaseLost'};
/** Told to all hands: which of them want a lease is forgotten. */
export type LeasesForgotten = {readonly type: 'leasesForgotten'};

export type LeasesMessage =
	| WantLease
	| UnwantLease
	| LeasesRenewed
	| {readonly type: 'renew'}
	| {readonly type: 'leaseEnds'; readonly uid: string}
	| Reply<null, 'watchdogSet'>;

type PodLease = WantLease & {
	/** Monotonic; the end of the lease as far as its watchdogs are set for it. */
	readonly untilMs: number | undefined;
	/** The end for which watchdogs are being set, and by which command: the answer to an earlier one says nothing about it. */
	readonly setting: {readonly untilMs: number; readonly id: string} | undefined;
};

export type LeasesState = LeasesInput & {
	readonly leases: ReadonlyMap<string, PodLease>;
	/** When each renewal without an answer was sent, monotonic, by its number. */
	readonly sentAtMs: ReadonlyMap<number, number>;
	/** The number of the last renewal. It goes on rising after a crash: no answer to an earlier instance is taken for one to this. */
	readonly sent: number;
};

export const leases: Behavior<LeasesInput, LeasesState, LeasesMessage> = {
	kind: 'Leases',
	init: ({node}, {monotonicMs}) =>
		next({node, leases: new Map(), sentAtMs: new Map(), sent: Math.trunc(monotonicMs)}, [tell(address(node, podsPath), forgotten)]),
	receive(state, message, context) {
		switch (message.type) {
			case 'wantLease':
				return want(state, message, context);
			case 'unwantLease':
				return unwant(state, message.uid);
			case 'renew':
				return renew(state, context);
			case 'leasesRenewed':
				return renewed(state, message, context);
			case 'watchdogSet':
				return watchdogSet(state, message, context);
			case 'leaseEnds':
				return ends(state, message.uid, context);
		}
	},
	coalesce: ({type}) => (type === 'renew' ? type : undefined),
	describe: ({leases: all}) => `${[...all.values()].filter(({untilMs}) => untilMs !== undefined).length} of ${all.size} held`,
};

function want(state: LeasesState, message: WantLease, context: Context): Next<LeasesState> {
	const present = state.leases.get(message.uid);
	const lease: PodLease = {...message, untilMs: present?.untilMs, setting: present?.setting};
	const now: LeasesState = {...state, leases: new Map(state.leases).set(message.uid, lease)};
	// A hand that started again asks once more.
	if (lease.untilMs !== undefined && lease.untilMs > context.monotonicMs) return next(now, [tell(message.owner, held)]);
	return renew(now, context);
}

const held: LeaseHeld = {type: 'leaseHeld'};
const lost: LeaseLost = {type: 'leaseLost'};
const forgotten: LeasesForgotten = {type: 'leasesForgotten'};

function unwant(state: LeasesState, uid: string): Next<LeasesState> {
	const all = new Map(state.leases);
	all.delete(uid);
	return next({...state, leases: all}, [
		{type: 'cancelWake', name: uid},
		...(all.size === 0 ? [{type: 'cancelWake', name: 'renew'} as const] : []),
	]);
}

/** Asks for all leases at once; what was asked for longer ago than a lease lasts is of no use any more. */
function renew(state: LeasesState, {monotonicMs, nowMs}: Context): Next<LeasesState> {
	if (state.leases.size === 0) return next(state);
	const number = state.sent + 1;
	const sentAtMs = new Map([...state.sentAtMs].filter(([, atMs]) => monotonicMs - atMs < limits.podLeaseTtlMs));
	const message: RenewLeases = {type: 'renewLeases', number, pods: [...state.leases.values()].map(({key, uid}) => ({key, uid}))};
	return next({...state, sent: number, sentAtMs: sentAtMs.set(number, monotonicMs)}, [
		tell(dispatcherOfNode(state.node), message),
		{type: 'wakeAt', name: 'renew', atMs: nowMs + limits.podLeaseRenewMs, message: {type: 'renew'}},
	]);
}

function renewed(state: LeasesState, {number, uids}: LeasesRenewed, {monotonicMs}: Context): Next<LeasesState> {
	const sentAtMs = state.sentAtMs.get(number);
	if (sentAtMs === undefined) return next(state);
	const untilMs = sentAtMs + limits.podLeaseTtlMs;
	const effects: Effect[] = [];
	const all = new Map(state.leases);
	for (const uid of untilMs > monotonicMs ? uids : []) {
		const lease = all.get(uid);
		if (lease === undefined || untilMs <= Math.max(lease.untilMs ?? 0, lease.setting?.untilMs ?? 0)) continue;
		const id = `${uid}/lease/${number}`;
		all.set(uid, {...lease, setting: {untilMs, id}});
		effects.push(perform({type: 'lease.extend', uid, untilMs}, id, 'watchdogSet', limits.podLeaseTtlMs));
	}
	const waiting = new Map(state.sentAtMs);
	waiting.delete(number);
	return next({...state, leases: all, sentAtMs: waiting}, effects);
}

/** Only now the lease may be used: the pod ends with it, also if this process is gone by then. */
function watchdogSet(state: LeasesState, {id, outcome}: Reply<null, 'watchdogSet'>, {monotonicMs, nowMs}: Context): Next<LeasesState> {
	const uid = id.slice(0, id.indexOf('/'));
	const lease = state.leases.get(uid);
	if (lease?.setting?.id !== id) return next(state);
	const {untilMs} = lease.setting;
	const all = new Map(state.leases);
	if (!outcome.ok || untilMs <= monotonicMs) {
		all.set(uid, {...lease, setting: undefined});
		return next({...state, leases: all}); // The next renewal tries again; until then the former end holds.
	}
	all.set(uid, {...lease, untilMs, setting: undefined});
	return next({...state, leases: all}, [
		endAt(uid, nowMs + untilMs - monotonicMs),
		...(lease.untilMs === undefined ? [tell(lease.owner, held)] : []),
	]);
}

const endAt = (uid: string, atMs: number): Effect => {
	const message: LeasesMessage = {type: 'leaseEnds', uid};
	return {type: 'wakeAt', name: uid, atMs, message, cause: 'end of the lease'};
};

function ends(state: LeasesState, uid: string, {monotonicMs, nowMs}: Context): Next<LeasesState> {
	const lease = state.leases.get(uid);
	if (lease?.untilMs === undefined) return next(state);
	// A timer that is a little early.
	if (lease.untilMs > monotonicMs) return next(state, [endAt(uid, nowMs + lease.untilMs - monotonicMs)]);
	return next({...state, leases: new Map(state.leases).set(uid, {...lease, untilMs: undefined})}, [tell(lease.owner, lost)]);
}
