// The leases of exclusive pods as a runtime holds them: at the end of one all that runs of its pod is killed.
//
// Three processes know that end, each by itself: two watchdogs and this agent. So no death of one of them, nor its being stopped, keeps the
// pod alive, and neither does the death of the agent together with one of the two. A watchdog that is lost is replaced at once; an agent that
// starts replaces those of the one before it, which it would not hear end.

import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {explained} from '../os/explained.js';
import type {ProcessStat} from '../os/identity.js';
import {
	callOff,
	readLeaseRecord,
	removeLeaseRecord,
	stands,
	startWatchdog,
	uptimeHundredths,
	writeLeaseRecord,
	type Strike,
} from './watchdog.js';

const watchdogsPerPod = 2;

export type Leases = {
	/**
	 * Has all that runs of the pod killed at this time of the agent's monotonic clock, unless that is moved on before; it never moves back. What
	 * kills stands when this returns. Throws an Error, or errno exceptions, when it does not; then what stood before stands.
	 */
	readonly extend: (uid: string, untilMs: number) => void;
	/** The uptime (1/100 s) at which the lease ends; undefined: it is not held. */
	readonly deadlineOf: (uid: string) => number | undefined;
	/** Guards what an earlier agent has left; what ran beyond its lease is killed now. */
	readonly adopt: (uid: string) => void;
	/** Nothing of the pod is left to be killed. */
	readonly end: (uid: string) => void;
	/** Watchdogs stay. */
	readonly close: () => void;
};

export type LeasesOptions = {
	readonly folderOf: (uid: string) => string;
	/** Kills all that runs of a pod. May throw errno exceptions. */
	readonly kill: (uid: string) => void;
	/** How its watchdogs do; undefined: by the state files of its attempts. */
	readonly strikeOf?: (uid: string) => Strike;
	readonly bootId: string;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
};

type Lease = {
	readonly uid: string;
	untilMs: number;
	deadline: number;
	/** Children of this agent, whose end it hears. */
	watchdogs: readonly ProcessStat[];
	cancel: Cancel;
};

type State = LeasesOptions & {
	readonly held: Map<string, Lease>;
	closed: boolean;
};

export function createLeases(options: LeasesOptions): Leases {
	const state: State = {...options, held: new Map(), closed: false};
	return {
		extend: (uid, untilMs) => extend(state, uid, untilMs),
		deadlineOf(uid) {
			const lease = state.held.get(uid);
			return lease !== undefined && lease.untilMs > state.clock.monotonicMs() ? lease.deadline : undefined;
		},
		adopt: uid => adopt(state, uid),
		end(uid) {
			const lease = state.held.get(uid);
			state.held.delete(uid);
			lease?.cancel();
			const {watchdogs} = readLeaseRecord(state.folderOf(uid), state.bootId);
			for (const watchdog of [...watchdogs, ...(lease?.watchdogs ?? [])]) callOff(watchdog);
			removeLeaseRecord(state.folderOf(uid));
		},
		close() {
			state.closed = true;
			for (const {cancel} of state.held.values()) cancel();
		},
	};
}

/** The kernel's time is taken first: whatever holds this process up in between makes the end earlier, never later. */
function extend(state: State, uid: string, untilMs: number): void {
	const deadline = uptimeHundredths() + Math.floor((untilMs - state.clock.monotonicMs()) / 10);
	const there = state.held.get(uid);
	if (there !== undefined && there.deadline >= deadline) return;
	const lease: Lease = there ?? {uid, untilMs, deadline, watchdogs: [], cancel: () => undefined};
	const former = there?.watchdogs ?? readLeaseRecord(state.folderOf(uid), state.bootId).watchdogs;
	// Those that may be striking already stand for nothing.
	stand(state, lease, deadline, isOver(lease) ? [] : lease.watchdogs);
	for (const watchdog of former) if (!lease.watchdogs.includes(watchdog)) callOff(watchdog);
	Object.assign(lease, {untilMs, deadline});
	state.held.set(uid, lease);
	setTimer(state, lease);
}

const isOver = ({deadline}: Lease): boolean => uptimeHundredths() >= deadline;

/** Of these watchdogs those that stand, and as many new ones as are missing, stand for that end. Where one cannot be started nothing changes. */
function stand(state: State, lease: Lease, deadline: number, present: readonly ProcessStat[]): void {
	const watchdogs = present.filter(stands);
	const fresh: ProcessStat[] = [];
	try {
		while (watchdogs.length + fresh.length < watchdogsPerPod) fresh.push(start(state, lease, deadline));
		writeLeaseRecord(state.folderOf(lease.uid), deadline, state.bootId, [...watchdogs, ...fresh]);
	} catch (error) {
		for (const watchdog of fresh) callOff(watchdog);
		throw error;
	}
	lease.watchdogs = [...watchdogs, ...fresh];
}

function start(state: State, lease: Lease, deadline: number): ProcessStat {
	const startedMs = state.clock.monotonicMs();
	const onEnd = (): void => {
		if (!isWanted(state, lease) || !lease.watchdogs.includes(watchdog)) return;
		lease.watchdogs = lease.watchdogs.filter(other => other !== watchdog);
		// One that cannot live is not started all the time.
		if (state.clock.monotonicMs() - startedMs >= limits.watchdogAgainMs) restore(state, lease);
		else state.clock.after(limits.watchdogAgainMs, () => restore(state, lease));
	};
	const watchdog = startWatchdog(state.folderOf(lease.uid), deadline, onEnd, state.strikeOf?.(lease.uid));
	return watchdog;
}

const isWanted = (state: State, lease: Lease): boolean => !state.closed && state.held.get(lease.uid) === lease && !isOver(lease);

/** Where that fails the other one stands, and this agent; the next extension tries again. */
function restore(state: State, lease: Lease): void {
	if (!isWanted(state, lease)) return;
	state.onWarning(`a watchdog of pod ${lease.uid} was killed before its lease ended; another one takes its place`);
	try {
		stand(state, lease, lease.deadline, lease.watchdogs);
	} catch (error) {
		state.onWarning(explained(error));
	}
}

function setTimer(state: State, lease: Lease): void {
	lease.cancel();
	lease.cancel = state.clock.after(10 * (lease.deadline - uptimeHundredths()), () => {
		if (isOver(lease)) strike(state, lease.uid);
		else setTimer(state, lease);
	});
}

function strike({kill, onWarning}: State, uid: string): void {
	try {
		kill(uid);
	} catch (error) {
		onWarning(explained(error)); // The watchdogs strike, too.
	}
}

function adopt(state: State, uid: string): void {
	const {deadline, watchdogs} = readLeaseRecord(state.folderOf(uid), state.bootId);
	if (deadline === undefined) return;
	const leftMs = 10 * (deadline - uptimeHundredths());
	if (leftMs <= 0) return strike(state, uid);
	const lease: Lease = {uid, untilMs: state.clock.monotonicMs() + leftMs, deadline, watchdogs: [], cancel: () => undefined};
	state.held.set(uid, lease);
	setTimer(state, lease);
	try {
		stand(state, lease, deadline, []);
		for (const watchdog of watchdogs) callOff(watchdog);
	} catch (error) {
		state.onWarning(explained(error)); // Those of before may stand, and the next extension tries again.
	}
}
