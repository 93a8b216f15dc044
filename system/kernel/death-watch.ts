// Which actors are told of the end of which, in this system and between systems. Each watch has one end: one `down`, or its `unwatch`.
//
// Between systems a watch is three messages that the runtimes exchange and no actor sees. The stream between them keeps order and
// loses nothing; where it breaks (the peer is another by now) both ends forget, and the watchers are told `noConnection`. An
// address is watched once per system, however many actors there want to know.

import {address as addressOf, parseAddress, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ActorSystemOptions} from './actor-options.js';
import type {Message, Signal} from './behavior.js';
import type {Cell, FarWatch, FarWatcher} from './cell.js';
import type {Cancel} from '../time/clock.js';
import {withSpan, type Envelope, type Span} from './mailbox.js';
import {downsPath, isForRuntime, watchMessageOf, type WatchMessage} from './watch-message.js';

type Down = Extract<Signal, {type: 'down'}>;
type ActorDown = Extract<WatchMessage, {type: 'actorDown'}>;

/** An end that a peer has not been told yet, since nothing more goes to it for now. */
type Owed = {readonly watcher: FarWatcher; readonly from: Address; readonly down: Down};

export class DeathWatch {
	readonly #options: Pick<ActorSystemOptions, 'name' | 'remote' | 'clock'>;
	readonly #cells: ReadonlyMap<Address, Cell>;
	/** What is watched from here, by id and by address. */
	readonly #far = new Map<number, FarWatch>();
	readonly #farByAddress = new Map<Address, FarWatch>();
	/** The watchers of other systems, by system and id; with the actor until that has ended and its end is said. */
	readonly #watchers = new Map<string, Map<number, {readonly watcher: FarWatcher; readonly cell: Cell | undefined}>>();
	#owed: Owed[] = [];
	#cancelPayment: Cancel | undefined;
	#ids = 0;
	#wasRefused = false;

	constructor(options: Pick<ActorSystemOptions, 'name' | 'remote' | 'clock'>, cells: ReadonlyMap<Address, Cell>) {
		this.#options = options;
		this.#cells = cells;
	}

	/** `span`: of the traced step that asks for it. */
	watch(cell: Cell, address: Address, span?: Span): void {
		const system = parseAddress(address)?.system;
		if (system !== undefined && system !== this.#options.name) {
			this.#watchFar(cell, system, address, span);
			return;
		}
		const watched = this.#cells.get(address);
		if (watched === undefined) {
			cell.signal(unknown(address, 'noProcess'), span);
			return;
		}
		watched.watchers.add(cell);
		cell.watching.add(watched);
	}

	/** What a supervisor hears of its children it hears as their supervisor. */
	unwatch(cell: Cell, address: Address): void {
		for (const watched of cell.watching) if (watched.address === address) this.#stopWatching(cell, watched);
		if (supervisorOf(address) !== cell.address) cell.mailbox.forgetSignals(signal => signal.type === 'down' && signal.address === address);
	}

	/** It watches no actor any more. */
	forget(cell: Cell): void {
		for (const watched of cell.watching) this.#stopWatching(cell, watched);
	}

	/** The actor has ended: all watchers are told, its supervisor aside, which knows. */
	ended(cell: Cell, down: Down, span?: Span): void {
		for (const watcher of cell.watchers) {
			if (!('mailbox' in watcher)) {
				this.#tell(watcher, cell.address, down, span);
				continue;
			}
			watcher.watching.delete(cell);
			if (watcher !== cell.parent) watcher.signal(down, span);
		}
		cell.watchers.clear();
	}

	/** A peer's runtime speaks; whether that made sense. */
	take(peer: string, to: Address, {message, span}: Pick<Envelope, 'message' | 'span'>): boolean {
		const said = watchMessageOf(message);
		switch (said?.type) {
			case undefined:
				return false;
			case 'watchActor':
				this.#watchedFrom({system: peer, id: said.id, address: to});
				return true;
			case 'unwatchActor':
				this.#drop(peer, said.id);
				return true;
			case 'actorDown':
				return this.#farDown(peer, said, span);
		}
	}

	/** The bus takes no more for that system: whether the message was one of these, and so no dead letter. */
	refused(message: Message): boolean {
		const isOurs = isForRuntime(message);
		if (isOurs) this.#wasRefused = true;
		return isOurs;
	}

	/** The peer is another by now, as far as these actors go: it knows of no watch, and none of its actors waits for an end. */
	peerRestarted(peer: string, isMeant: (from: Address, to: Address) => boolean): void {
		for (const {id, watcher} of [...this.#ofPeer(peer)]) if (isMeant(addressOf(peer, downsPath), watcher.address)) this.#drop(peer, id);
		for (const far of [...this.#far.values()])
			if (far.system === peer && isMeant(this.#self, far.address)) this.#end(far, unknown(far.address, 'noConnection'));
	}

	/** The peer is given up: it may come back as it was, so it is told that no actor here waits. */
	peerGone(peer: string): void {
		for (const far of [...this.#far.values()]) {
			if (far.system !== peer) continue;
			this.#end(far, unknown(far.address, 'noConnection'));
			this.#say(far, 'unwatchActor');
		}
	}

	/** Forgets everything. */
	close(): void {
		this.#cancelPayment?.();
		this.#owed = [];
		this.#far.clear();
		this.#farByAddress.clear();
		this.#watchers.clear();
	}

	// ---- from here -----------------------------------------------------------------------------------------------------------

	get #self(): Address {
		return addressOf(this.#options.name, downsPath);
	}

	#watchFar(cell: Cell, system: string, address: Address, span: Span | undefined): void {
		const far = this.#farByAddress.get(address) ?? this.#beginFar(system, address);
		if (far === undefined) {
			cell.signal(unknown(address, 'noConnection'), span);
			return;
		}
		far.watchers.add(cell);
		cell.watching.add(far);
	}

	/** Undefined: nothing goes to that system. */
	#beginFar(system: string, address: Address): FarWatch | undefined {
		const far: FarWatch = {system, id: ++this.#ids, address, watchers: new Set()};
		if (!this.#say(far, 'watchActor')) return undefined;
		this.#far.set(far.id, far);
		this.#farByAddress.set(address, far);
		return far;
	}

	#stopWatching(cell: Cell, watched: Cell | FarWatch): void {
		cell.watching.delete(watched);
		watched.watchers.delete(cell);
		if ('mailbox' in watched || watched.watchers.size > 0) return;
		this.#forgetFar(watched);
		// Should it not be taken: the word that then comes one day is of an id that is not known here.
		this.#say(watched, 'unwatchActor');
	}

	#say({system, id, address}: FarWatch, type: 'watchActor' | 'unwatchActor'): boolean {
		return this.#offer(system, address, this.#self, {type, id});
	}

	/** Of what was unwatched meanwhile, or of what another system has, nothing is heard. */
	#farDown(peer: string, {id, instance, reason}: ActorDown, span: Span | undefined): boolean {
		const far = this.#far.get(id);
		if (far?.system === peer) this.#end(far, {type: 'down', address: far.address, instance, reason}, span);
		return far === undefined || far.system === peer;
	}

	#end(far: FarWatch, down: Down, span?: Span): void {
		this.#forgetFar(far);
		for (const cell of far.watchers) {
			cell.watching.delete(far);
			cell.signal(down, span);
		}
	}

	#forgetFar(far: FarWatch): void {
		this.#far.delete(far.id);
		this.#farByAddress.delete(far.address);
	}

	// ---- from elsewhere --------------------------------------------------------------------------------------------------------

	*#ofPeer(peer: string): Iterable<{readonly id: number; readonly watcher: FarWatcher}> {
		for (const [id, {watcher}] of this.#watchers.get(peer) ?? []) yield {id, watcher};
	}

	#watcherOf(peer: string, id: number): FarWatcher | undefined {
		return this.#watchers.get(peer)?.get(id)?.watcher;
	}

	#watchedFrom(watcher: FarWatcher): void {
		const {system, id, address} = watcher;
		// Of another address it is a watch of the peer's former life, whose end only the other lane has yet to hear of.
		if (this.#watcherOf(system, id)?.address === address) return;
		this.#drop(system, id);
		const watches = this.#watchers.get(system) ?? new Map<number, {watcher: FarWatcher; cell: Cell | undefined}>();
		if (watches.size >= limits.watchesPerPeer) {
			this.#offer(system, addressOf(system, downsPath), address, {type: 'actorDown', id, reason: {type: 'noConnection'}});
			return;
		}
		const cell = this.#cells.get(address);
		this.#watchers.set(system, watches.set(id, {watcher, cell}));
		if (cell === undefined) this.#tell(watcher, address, unknown(address, 'noProcess'));
		else cell.watchers.add(watcher);
	}

	/** Says it as soon as the peer takes it; until then it counts as a watch of that peer. */
	#tell(watcher: FarWatcher, from: Address, down: Down, span?: Span): void {
		if (this.#offerDown(watcher, from, down, span)) {
			this.#drop(watcher.system, watcher.id);
			return;
		}
		this.#owed.push({watcher, from, down});
		if (this.#owed.length === 1) this.#payLater();
	}

	#offerDown({system, id}: FarWatcher, from: Address, {instance, reason}: Down, span?: Span): boolean {
		const message: WatchMessage = {type: 'actorDown', id, reason, ...(instance === undefined ? {} : {instance})};
		return this.#offer(system, addressOf(system, downsPath), from, message, span);
	}

	#payLater(): void {
		this.#cancelPayment = this.#options.clock.after(limits.streamResendMs, () => {
			// A peer that came back as another begins with the same ids: what was owed to the former is dropped.
			const owed = this.#owed.filter(({watcher}) => this.#watcherOf(watcher.system, watcher.id) === watcher);
			this.#owed = owed.filter(({watcher, from, down}) => {
				const isTaken = this.#offerDown(watcher, from, down);
				if (isTaken) this.#drop(watcher.system, watcher.id);
				return !isTaken;
			});
			if (this.#owed.length > 0) this.#payLater();
		});
	}

	#drop(peer: string, id: number): void {
		const watches = this.#watchers.get(peer);
		const known = watches?.get(id);
		if (watches === undefined || known === undefined) return;
		known.cell?.watchers.delete(known.watcher);
		watches.delete(id);
		if (watches.size === 0) this.#watchers.delete(peer);
	}

	/** Whether the bus has taken it; a refusal is told within the call. */
	#offer(system: string, to: Address, from: Address, message: WatchMessage, span?: Span): boolean {
		const {remote} = this.#options;
		if (remote === undefined) return false;
		this.#wasRefused = false;
		remote(system, to, withSpan({message, from, cause: 'watch', outside: false}, span));
		return !this.#wasRefused;
	}
}

function supervisorOf(address: Address): Address | undefined {
	const {system, path} = parseAddress(address) ?? {system: '', path: ''};
	return path === '' ? undefined : addressOf(system, path.slice(0, Math.max(0, path.lastIndexOf('/'))));
}

const unknown = (address: Address, type: 'noProcess' | 'noConnection'): Down => ({
	type: 'down',
	address,
	instance: undefined,
	reason: {type},
});
