// Who leads, by a lease in etcd: the key of the leader lives as long as its holder renews the lease, and the server that creates it when it
// is absent leads. The holder counts from when it *sent* the last renewal that was confirmed, so it knows of the end before etcd.
//
// A watch says at once when something changes; a look at what is there stands behind it, since watches were seen to lose events.

import type {Random} from '../time/random.js';
import type {Cancel, Clock} from '../time/clock.js';
import type {Election, ElectionListener, ServerInfo, Term} from './election.js';
import type {EtcdClient} from '../store/etcd-client.js';
import {limits} from '../../api/limits.js';
import {parsedJson} from '../../api/value-or.js';

const below = '/troupe-office/';
const leaderKey = `${below}leader`;
const serverKey = (id: string): string => `${below}servers/${id}`;

export type EtcdElectionOptions = {
	/** The election's from now on, and closed with it. */
	readonly client: EtcdClient;
	readonly clock: Clock;
	readonly random: Random;
	/** Of the lease; etcd may make it longer. */
	readonly ttlMs?: number;
	/** What failed and is tried again. */
	readonly onWarning?: (message: string) => void;
};

type Lease = {
	readonly id: string;
	readonly ttlMs: number;
	/** When the last confirmed renewal was sent. */
	confirmedAtMs: number;
	/** The end of what hangs on it. */
	readonly ended: Cancel[];
};

/** A term of this server, and what ends it when its time is over. */
type Held = {readonly lease: Lease; readonly cancelEnd: {now: Cancel}};

export function createEtcdElection(options: EtcdElectionOptions): Election {
	const election = new EtcdElection(options);
	return {
		run: (self, listener) => election.run(self, listener),
		leader: () => election.leader,
		answers: () => election.answers,
		servers: () => election.servers,
		close: () => election.close(),
	};
}

class EtcdElection {
	readonly #options: EtcdElectionOptions;
	leader: ServerInfo | undefined;
	answers = true;
	servers: readonly ServerInfo[] = [];
	#self: ServerInfo | undefined;
	#listener: ElectionListener | undefined;
	#closed = false;
	#lease: Lease | undefined;
	/** While this server leads. */
	#held: Held | undefined;
	#campaignAfterMs = 0;
	#looking = false;
	#lookAgain = false;
	#cancelLook: Cancel = () => undefined;
	#cancelWatch: Cancel | undefined;

	constructor(options: EtcdElectionOptions) {
		this.#options = options;
	}

	run(self: ServerInfo, listener: ElectionListener): void {
		this.#self = self;
		this.#listener = listener;
		void this.#look();
	}

	async close(): Promise<void> {
		if (this.#closed) return;
		this.#closed = true;
		this.#cancelLook();
		this.#cancelWatch?.();
		const lease = this.#lease;
		this.#endTerm('the server is stopping');
		this.#dropLease();
		// Everything of this server hangs on its lease.
		if (lease !== undefined) await this.#options.client.revoke(lease.id).catch(() => undefined);
		this.leader = undefined;
		this.servers = [];
		this.#options.client.close();
	}

	// ---- looking ------------------------------------------------------------------------------------------------------

	/** Sees what there is and does what follows from it; one at a time, and again when something changed meanwhile. */
	async #look(): Promise<void> {
		if (this.#closed) return;
		this.#lookAgain = true;
		if (this.#looking) return;
		this.#looking = true;
		this.#cancelLook();
		let waitMs: number = limits.electionLookMs;
		while (this.#lookAgain && !this.#isClosed()) {
			this.#lookAgain = false;
			try {
				await this.#step();
			} catch (error) {
				this.#options.onWarning?.(`the election: ${error instanceof Error ? error.message : String(error)}`);
				this.#loseSight();
				waitMs = limits.electionRetryMs;
				break;
			}
		}
		this.#looking = false;
		if (this.#isClosed()) return;
		const soonMs = Math.max(0, this.#campaignAfterMs - this.#options.clock.monotonicMs());
		if (soonMs > 0 && this.#held === undefined) waitMs = Math.min(waitMs, soonMs);
		this.#cancelLook = this.#options.clock.after(waitMs * (0.9 + this.#options.random.next() / 5), () => void this.#look());
	}

	readonly #isClosed = (): boolean => this.#closed;

	async #step(): Promise<void> {
		const lease = this.#lease ?? (await this.#announce());
		if (lease === undefined) return;
		this.#keepWatch();
		const {records} = await this.#options.client.range({prefix: below});
		this.answers = true;
		const words = records.find(({key}) => key === leaderKey)?.value;
		this.#learn(
			infoOf(words),
			records.filter(({key}) => key !== leaderKey).map(({value}) => infoOf(value)),
		);
		if (this.#closed || this.#lease !== lease) return;
		const holds = this.#held !== undefined;
		const isOurs = words !== undefined && infoOf(words)?.id === this.#self?.id;
		if (holds && !isOurs) this.#lose('somebody else has removed the key of the leader');
		else if (!holds && (words === undefined || isOurs)) await this.#campaign(lease, words);
	}

	#learn(leader: ServerInfo | undefined, found: readonly (ServerInfo | undefined)[]): void {
		const servers = found.filter(server => server !== undefined);
		const isNew = JSON.stringify([leader, servers]) !== JSON.stringify([this.leader, this.servers]);
		this.leader = leader;
		this.servers = servers;
		if (isNew && !this.#closed) this.#listener?.changed();
	}

	/** The leader may have lost its term since: none is named that this server has not seen lead. */
	#loseSight(): void {
		this.answers = false;
		if (this.#held !== undefined || this.leader === undefined) return;
		this.leader = undefined;
		if (!this.#closed) this.#listener?.changed();
	}

	#keepWatch(): void {
		if (this.#cancelWatch !== undefined) return;
		this.#cancelWatch = this.#options.client.watch(
			below,
			() => void this.#look(),
			() => {
				this.#cancelWatch = undefined; // The next look sets it again.
			},
		);
	}

	// ---- the lease ----------------------------------------------------------------------------------------------------

	/** A new lease with this server's announcement on it. */
	async #announce(): Promise<Lease | undefined> {
		const {client, clock, ttlMs: wantedMs = limits.leaseTtlMs} = this.#options;
		const self = this.#self;
		if (self === undefined) return undefined;
		const sentAtMs = clock.monotonicMs();
		const {id, ttlMs} = await client.grant(wantedMs);
		const lease: Lease = {id, ttlMs, confirmedAtMs: sentAtMs, ended: []};
		if (this.#closed) {
			await client.revoke(id).catch(() => undefined);
			return undefined;
		}
		this.#lease = lease;
		this.#renewLater(lease);
		try {
			await client.put({key: serverKey(self.id), value: JSON.stringify(self), lease: id});
		} catch (error) {
			if (this.#lease === lease) this.#dropLease(); // The other servers would not hear of this one: it begins anew.
			throw error;
		}
		return lease;
	}

	#renewLater(lease: Lease): void {
		lease.ended.push(this.#options.clock.after(lease.ttlMs / 3, () => void this.#renew(lease)));
	}

	async #renew(lease: Lease): Promise<void> {
		const {client, clock, onWarning} = this.#options;
		if (this.#lease !== lease) return;
		lease.ended.length = 0;
		const sentAtMs = clock.monotonicMs();
		try {
			const isAlive = await client.keepAlive(lease.id, lease.ttlMs / 3);
			if (this.#lease !== lease) return;
			if (!isAlive) return this.#lose('the lease has ended');
			lease.confirmedAtMs = sentAtMs;
			this.#armEnd(lease);
			this.#renewLater(lease);
		} catch (error) {
			if (this.#lease !== lease) return;
			onWarning?.(`the election: a keep-alive failed: ${error instanceof Error ? error.message : String(error)}`);
			this.#loseSight();
			if (clock.monotonicMs() >= lease.confirmedAtMs + lease.ttlMs) return this.#lose('the lease could not be renewed');
			lease.ended.push(clock.after(limits.electionRetryMs, () => void this.#renew(lease)));
		}
	}

	#dropLease(): void {
		for (const end of this.#lease?.ended.splice(0) ?? []) end();
		this.#lease = undefined;
	}

	/** Another lease from now on: the old one may or may not be over for etcd. */
	#lose(reason: string): void {
		const lease = this.#lease;
		this.#dropLease();
		if (lease !== undefined) this.#options.client.revoke(lease.id).catch(() => undefined);
		this.#endTerm(reason);
		void this.#look();
	}

	// ---- the term -----------------------------------------------------------------------------------------------------

	/** `words`: what the key holds, left by an earlier term of this server. */
	async #campaign(lease: Lease, words: string | undefined): Promise<void> {
		const {client, clock} = this.#options;
		if (clock.monotonicMs() < this.#campaignAfterMs) return;
		const self = this.#self;
		const outcome = await client.putIf({key: leaderKey, expected: words}, [
			{key: leaderKey, value: JSON.stringify({...self, lease: lease.id}), lease: lease.id},
		]);
		if (!outcome.done || this.#closed || this.#lease !== lease) return void this.#look();
		if (clock.monotonicMs() >= untilMs(lease)) return this.#lose('the election took longer than the lease');
		const held: Held = {lease, cancelEnd: {now: () => undefined}};
		this.#held = held;
		this.#armEnd(lease);
		this.leader = self;
		this.#listener?.changed();
		this.#listener?.elected(this.#termOf(held));
		void this.#look();
	}

	#termOf(held: Held): Term {
		return {
			untilMs: () => (this.#held === held ? untilMs(held.lease) : Number.NEGATIVE_INFINITY),
			resign: async () => {
				if (this.#held !== held) return;
				this.#campaignAfterMs = this.#options.clock.monotonicMs() + limits.electionAgainMs;
				this.#dropLease();
				this.#endTerm('the server has resigned');
				await this.#options.client.revoke(held.lease.id).catch(() => undefined);
				void this.#look();
			},
		};
	}

	/** The term is over when its time is, whether etcd says so or not. */
	#armEnd(lease: Lease): void {
		const held = this.#held;
		if (held?.lease !== lease) return;
		held.cancelEnd.now();
		held.cancelEnd.now = this.#options.clock.after(untilMs(lease) - this.#options.clock.monotonicMs(), () => {
			if (this.#held === held) this.#lose('no keep-alive was confirmed in time');
		});
	}

	#endTerm(reason: string): void {
		const held = this.#held;
		this.#held = undefined;
		if (held === undefined) return;
		held.cancelEnd.now();
		if (this.leader?.id === this.#self?.id) this.leader = undefined;
		this.#listener?.lost(reason);
		if (!this.#closed) this.#listener?.changed();
	}
}

const untilMs = ({confirmedAtMs, ttlMs}: Lease): number => confirmedAtMs + (ttlMs * 2) / 3;

/** Undefined for what no server of ours has written. */
function infoOf(text: string | undefined): ServerInfo | undefined {
	const {id, api} = Object(parsedJson(text ?? '')) as Partial<ServerInfo>;
	return typeof id === 'string' && typeof api === 'string' ? {id, api} : undefined;
}
