// Faults that an admin makes, to learn or to test: an actor that crashes, is slow, loses messages or takes none; a system that is cut off.
//
// Each belongs to an actor, ends with it, and by itself at its time, whether an admin is there to end it or not. While there are none, no
// step has a probe.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {Fault, FaultsLook} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {shown} from '../../api/shown.js';
import {parseUserSystem} from '../../api/user-system.js';
import {isReply} from '../kernel/behavior.js';
import type {ActiveFault, Cell, Hold} from '../kernel/cell.js';
import type {Kernel} from '../kernel/kernel.js';
import type {Envelope} from '../kernel/mailbox.js';
import {seenWith, type Probe, type StepTrigger} from '../kernel/probe.js';
import {faultText} from '../kernel/look.js';
import type {Cancel} from '../time/clock.js';
import {addProbe} from './probes.js';

export type FaultOptions = {
	/** Nothing passes between this system and others from `cut` to `mend`; undefined where it has no others. */
	readonly partition?: {readonly cut: () => void; readonly mend: () => void} | undefined;
};

/** How a fault is undone, when its time is over or before. */
type Undo = {readonly cell: Cell; readonly active: ActiveFault; readonly undo: () => void; readonly cancel: Cancel};

export class Faults {
	readonly #kernel: Kernel;
	readonly #options: FaultOptions | undefined;
	readonly #ownPath: string;
	/** Those that are on; one of a type for each actor. */
	readonly #on = new Set<Undo>();
	/** Of actors that are slowed: a message has come, the next one may be taken after its time. */
	readonly #slowed = new Map<Cell, () => void>();
	#removeProbe: Cancel | undefined;

	/** Without options none may be made. `ownPath`: of the actor that is asked to make them. */
	constructor(kernel: Kernel, options: FaultOptions | undefined, ownPath = '') {
		this.#kernel = kernel;
		this.#options = options;
		this.#ownPath = ownPath;
	}

	look(): FaultsLook {
		this.#forgetGone();
		const nowMs = this.#nowMs();
		const faults = [...this.#on].map(({cell, active}) => {
			const leftMs = Math.max(0, Math.round(active.untilMs - nowMs));
			const {fault, by} = active;
			return {address: cell.address, fault, leftMs, text: faultText(active, nowMs), ...(by === undefined ? {} : {by})};
		});
		return {areAllowed: this.#options !== undefined, faults};
	}

	/** Makes a fault, in the place of one of its type; what was done, in words. `by`: the login that wants it. */
	begin(cell: Cell, fault: Fault, forMs: number = limits.faultMs, by?: string): Outcome<string> {
		const {name} = this.#kernel.options;
		if (this.#options === undefined) return failed('ERR_FORBIDDEN', {message: `no faults are made in "${name}": ${startedWith(name)}`});
		const problem = this.#problemOf(cell, fault, forMs);
		if (problem !== undefined) return failed('ERR_BAD_REQUEST', {message: problem});
		this.#forgetGone();
		for (const each of this.#on) if (each.cell === cell && each.active.fault.type === fault.type) this.#end(each);
		if (this.#on.size >= limits.faults)
			return failed('ERR_BAD_REQUEST', {message: `there are ${limits.faults} faults in "${name}" already`});
		const active: ActiveFault = {fault, untilMs: this.#nowMs() + forMs, by};
		const undo = this.#make(cell, fault, active.untilMs);
		const made: Undo = {cell, active, undo, cancel: this.#kernel.options.clock.after(forMs, () => this.#end(made))};
		this.#on.add(made);
		this.#tell(cell);
		return succeeded(`${cell.address}: ${faultText(active, this.#nowMs())}`);
	}

	/** Ends the faults of an actor; without one all of the system. What was done, in words. */
	heal(cell: Cell | undefined): string {
		const ended = [...this.#on].filter(each => cell === undefined || each.cell === cell);
		for (const each of ended) this.#end(each);
		const count = ended.length === 1 ? '1 fault has' : `${ended.length} faults have`;
		return ended.length === 0 ? 'there was no fault' : `${count} ended`;
	}

	close(): void {
		this.heal(undefined);
	}

	#nowMs(): number {
		return this.#kernel.options.clock.monotonicMs();
	}

	#problemOf(cell: Cell, fault: Fault, forMs: unknown): string | undefined {
		const {name} = this.#kernel.options;
		if (typeof forMs !== 'number' || !(forMs >= 1 && forMs <= limits.faultMostMs))
			return `a fault lasts from 1 ms to ${limits.faultMostMs / 60_000} minutes, got ${shown(forMs)}`;
		switch (fault.type) {
			case 'slow':
				if (isIn(fault.ms, 1, limits.faultSlowMs))
					return cell.held === undefined || cell.held.isSlowed === true ? undefined : 'it is paused: resume it first';
				return `slow takes from 1 to ${limits.faultSlowMs} ms, got ${shown(fault.ms)}`;
			case 'drop':
				return isIn(fault.share, 0, 1) && fault.share > 0 ? undefined : `drop takes a share above 0 and up to 1, got ${shown(fault.share)}`;
			case 'partition':
				return this.#partitionProblem(cell);
			case 'pause':
				if (this.#ownPath !== '' && cell.path === this.#ownPath) return 'the inspector cannot be paused: nobody could be asked to end that';
				return cell.held === undefined ? undefined : 'it is paused or slowed already';
			case 'crash':
				// Nobody writes to it, so that no step of it would come.
				return cell.parent === undefined
					? `crash takes an actor, and "${name}" is a whole system; all of it begins anew with: kill ${name}`
					: undefined;
			default:
				return `there is no fault ${shown((fault as {type: unknown}).type)}: there are crash, slow, drop, partition and pause`;
		}
	}

	#partitionProblem({parent}: Cell): string | undefined {
		const {name} = this.#kernel.options;
		if (this.#options?.partition === undefined)
			return `"${name}" itself is not cut off; cut off its nodes, each with: troupe fault partition NODE`;
		return parent === undefined ? undefined : `a partition is of a whole system, such as "${name}"`;
	}

	/** What undoes it. */
	#make(cell: Cell, fault: Fault, untilMs: number): () => void {
		switch (fault.type) {
			case 'slow':
				return this.#slow(cell, fault.ms, untilMs);
			case 'pause': {
				const held: Hold = {left: 0, untilMs, cancel: () => undefined};
				cell.held = held;
				return () => release(cell, held);
			}
			case 'partition':
				return this.#partition();
			case 'crash':
			case 'drop':
				return () => undefined;
		}
	}

	/** The answer to the tool that asked for it goes out before. */
	#partition(): () => void {
		const {clock} = this.#kernel.options;
		let isCut = false;
		const cancel = clock.after(limits.partitionDelayMs, () => {
			isCut = true;
			this.#options?.partition?.cut();
		});
		return () => {
			cancel();
			if (isCut) this.#options?.partition?.mend();
		};
	}

	/** It takes one message after the other, each so long after it could have. The process does not wait, and its signals do not. */
	#slow(cell: Cell, ms: number, untilMs: number): () => void {
		const {clock} = this.#kernel.options;
		let cancel: Cancel | undefined;
		const next = (): void => {
			cancel ??= clock.after(ms, () => {
				cancel = undefined;
				if (cell.held !== held) return;
				held.left++;
				cell.requestTurn();
				if (cell.mailbox.length > held.left) next();
			});
		};
		const held: Hold = {left: 0, untilMs, cancel: () => cancel?.(), isSlowed: true};
		cell.held = held;
		this.#slowed.set(cell, next);
		if (cell.mailbox.length > 0) next();
		return () => {
			cancel?.();
			this.#slowed.delete(cell);
			release(cell, held);
		};
	}

	#end(each: Undo): void {
		if (!this.#on.delete(each)) return;
		each.cancel();
		each.undo();
		this.#tell(each.cell);
	}

	/** An actor that is gone has no faults, nor has one that has its name since. */
	#forgetGone(): void {
		for (const each of this.#on) if (each.cell.isGone) this.#end(each);
	}

	/** The actor shows its faults, and as long as there are any in the system its steps have a probe. */
	#tell(cell: Cell): void {
		const ofCell = [...this.#on].filter(each => each.cell === cell).map(({active}) => active);
		cell.faults = ofCell.length === 0 ? undefined : ofCell;
		if (this.#on.size > 0) this.#removeProbe ??= addProbe(this.#kernel, this.#probe, 'last');
		else {
			this.#removeProbe?.();
			this.#removeProbe = undefined;
		}
	}

	readonly #probe: Probe = {
		arrives: (cell, envelope) => {
			const {faults} = cell;
			if (faults === undefined) return envelope;
			const drop = faultOf(faults, 'drop');
			if (drop !== undefined && isOnAWay(cell, envelope) && this.#kernel.options.random.next() < drop.share) return undefined;
			this.#slowed.get(cell)?.();
			return envelope;
		},
		begins: (cell, trigger) => {
			if (cell.faults === undefined || faultOf(cell.faults, 'crash') === undefined) return trigger;
			for (const each of this.#on) if (each.cell === cell && each.active.fault.type === 'crash') this.#end(each);
			return crashing(trigger);
		},
		happens: () => undefined,
		refused: () => undefined,
	};
}

/** How the process has to be started. */
const startedWith = (system: string): string =>
	parseUserSystem(system) === undefined
		? 'that takes troupe up --faults (or server, agent --faults)'
		: 'that takes troupe actor run --faults';

/** Timers are no messages on a way, nor is what the runtime answers in the place of one that was asked. */
const isOnAWay = (cell: Cell, {timer, message, from}: Envelope): boolean =>
	timer === undefined && !(isReply(message) && from === cell.address);

type FaultOf<Type extends Fault['type']> = Extract<Fault, {type: Type}>;

const faultOf = <Type extends Fault['type']>(faults: readonly ActiveFault[], type: Type): FaultOf<Type> | undefined =>
	faults.map(({fault}) => fault).find((fault): fault is FaultOf<Type> => fault.type === type);

const isIn = (value: unknown, from: number, to: number): boolean => typeof value === 'number' && value >= from && value <= to;

/** Unless something else holds the actor by now. */
function release(cell: Cell, held: Hold): void {
	if (cell.held !== held) return;
	cell.held = undefined;
	cell.requestTurn();
}

const crashing = (trigger: StepTrigger): StepTrigger => ({
	...trigger,
	seen: seenWith(trigger.seen, {
		context() {
			throw new Error('a fault was asked for here: its step crashes');
		},
	}),
});
