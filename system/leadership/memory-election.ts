// The election for the virtual world: a lease kept in an object that stands for etcd. It expires by the world's clock; each candidate
// has the clock of its own process, which may stand still, and a line to the lease that may be cut.

import {limits} from '../../api/limits.js';
import type {Cancel, Clock} from '../time/clock.js';
import type {Election, ElectionListener, ServerInfo} from './election.js';

/** What outlives the candidates, in place of etcd: which servers are announced, and whose the lease is. */
export type LeaseStore = {
	readonly clock: Clock;
	readonly ttlMs: number;
	/** The number tells one term of a server from the next. */
	holder: {readonly self: ServerInfo; readonly term: number; expiresAtMs: number} | undefined;
	terms: number;
	readonly announced: Map<string, {readonly self: ServerInfo; expiresAtMs: number}>;
	readonly watchers: Set<() => void>;
};

export const createLeaseStore = (clock: Clock, ttlMs: number = limits.leaseTtlMs): LeaseStore => ({
	clock,
	ttlMs,
	holder: undefined,
	terms: 0,
	announced: new Map(),
	watchers: new Set(),
});

export type MemoryElectionOptions = {
	readonly leases: LeaseStore;
	/** Of the candidate's process: while that is paused, none of its timers fires. */
	readonly clock: Clock;
	/** Whether the candidate reaches the lease just now. */
	readonly reaches: () => boolean;
};

type Candidate = {
	readonly options: MemoryElectionOptions;
	self: ServerInfo | undefined;
	listener: ElectionListener | undefined;
	term: {readonly number: number; confirmedAtMs: number} | undefined;
	campaignAfterMs: number;
	/** What was seen last. */
	leader: ServerInfo | undefined;
	servers: readonly ServerInfo[];
	cancel: Cancel;
	cancelEnd: Cancel;
	soon: boolean;
	closed: boolean;
};

export function createMemoryElection(options: MemoryElectionOptions): Election {
	const candidate: Candidate = {
		options,
		self: undefined,
		listener: undefined,
		term: undefined,
		campaignAfterMs: 0,
		leader: undefined,
		servers: [],
		cancel: () => undefined,
		cancelEnd: () => undefined,
		soon: false,
		closed: false,
	};
	const watcher = (): void => beat(candidate, 0);
	return {
		run(self, listener) {
			candidate.self = self;
			candidate.listener = listener;
			options.leases.watchers.add(watcher);
			beat(candidate, 0);
		},
		leader: () => candidate.leader,
		servers: () => candidate.servers,
		answers: options.reaches,
		close() {
			if (candidate.closed) return Promise.resolve();
			options.leases.watchers.delete(watcher);
			release(candidate);
			if (options.reaches() && candidate.self !== undefined) options.leases.announced.delete(candidate.self.id);
			candidate.closed = true;
			lose(candidate, 'the server is stopping');
			candidate.cancel();
			return Promise.resolve();
		},
	};
}

/** Renews, looks and campaigns: in so long, and then every third of the lease. */
function beat(candidate: Candidate, delayMs: number): void {
	const {clock, leases} = candidate.options;
	if (candidate.closed || (candidate.soon && delayMs === 0)) return;
	candidate.cancel();
	candidate.soon = delayMs === 0;
	candidate.cancel = clock.after(delayMs, () => {
		candidate.soon = false;
		step(candidate);
		if (!candidate.soon) beat(candidate, leases.ttlMs / 3);
	});
}

function step(candidate: Candidate): void {
	const {leases, clock, reaches} = candidate.options;
	const {self} = candidate;
	if (self === undefined) return;
	if (!reaches()) return loseSight(candidate);
	expire(leases);
	const expiresAtMs = leases.clock.monotonicMs() + leases.ttlMs;
	const isNew = !leases.announced.has(self.id);
	leases.announced.set(self.id, {self, expiresAtMs});
	const {term} = candidate;
	if (term !== undefined) {
		if (leases.holder?.term !== term.number) lose(candidate, 'the lease has ended');
		else {
			leases.holder.expiresAtMs = expiresAtMs;
			term.confirmedAtMs = clock.monotonicMs();
			armEnd(candidate);
		}
	}
	// Own words of an earlier term do not count.
	const isFree = leases.holder === undefined || (candidate.term === undefined && leases.holder.self.id === self.id);
	const wins = isFree && clock.monotonicMs() >= candidate.campaignAfterMs;
	if (wins) leases.holder = {self, term: ++leases.terms, expiresAtMs};
	learn(candidate);
	if (wins) beginTerm(candidate, leases.terms);
	if (wins || isNew) tellAll(leases);
}

function beginTerm(candidate: Candidate, number: number): void {
	const {leases, clock} = candidate.options;
	const term = {number, confirmedAtMs: clock.monotonicMs()};
	candidate.term = term;
	armEnd(candidate);
	candidate.listener?.elected({
		untilMs: () => (candidate.term === term ? term.confirmedAtMs + (leases.ttlMs * 2) / 3 : Number.NEGATIVE_INFINITY),
		resign() {
			if (candidate.term !== term) return Promise.resolve();
			candidate.campaignAfterMs = clock.monotonicMs() + limits.electionAgainMs;
			release(candidate);
			lose(candidate, 'the server has resigned');
			return Promise.resolve();
		},
	});
}

function armEnd(candidate: Candidate): void {
	const {term} = candidate;
	const {clock, leases} = candidate.options;
	if (term === undefined) return;
	candidate.cancelEnd();
	candidate.cancelEnd = clock.after(term.confirmedAtMs + (leases.ttlMs * 2) / 3 - clock.monotonicMs(), () => {
		if (candidate.term === term) lose(candidate, 'no keep-alive was confirmed in time');
	});
}

/** Gives the lease back, where it can be reached. */
function release({options: {leases, reaches}, term}: Candidate): void {
	if (term === undefined || !reaches() || leases.holder?.term !== term.number) return;
	leases.holder = undefined;
	tellAll(leases);
}

function lose(candidate: Candidate, reason: string): void {
	if (candidate.term === undefined) return;
	candidate.term = undefined;
	candidate.cancelEnd();
	if (candidate.leader?.id === candidate.self?.id) candidate.leader = undefined;
	candidate.listener?.lost(reason);
}

/** The leader may have lost its term since: none is named that this candidate has not seen lead. */
function loseSight(candidate: Candidate): void {
	if (candidate.term !== undefined || candidate.leader === undefined) return;
	candidate.leader = undefined;
	candidate.listener?.changed();
}

function learn(candidate: Candidate): void {
	const {leases} = candidate.options;
	const servers = [...leases.announced.values()].map(({self}) => self);
	const leader = leases.holder?.self;
	const isNew = leader?.id !== candidate.leader?.id || servers.map(({id}) => id).join() !== candidate.servers.map(({id}) => id).join();
	candidate.leader = leader;
	candidate.servers = servers;
	if (isNew) candidate.listener?.changed();
}

/** What etcd would do by itself; looked at whenever a candidate looks. */
function expire(leases: LeaseStore): void {
	const nowMs = leases.clock.monotonicMs();
	if (leases.holder !== undefined && leases.holder.expiresAtMs <= nowMs) leases.holder = undefined;
	for (const [id, {expiresAtMs}] of leases.announced) if (expiresAtMs <= nowMs) leases.announced.delete(id);
}

function tellAll(leases: LeaseStore): void {
	for (const watcher of [...leases.watchers]) watcher();
}
