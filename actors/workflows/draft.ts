// A step while it is made: what it changes stands beside the run as it was, which stays as it is.

import {stateNamed, processorOf, type Definition, type State, type StateMachine} from '../../api/states-language/definition.js';
import type {Frame, RunCommand, RunEnding, RunHead, RunNews, RunView, Step, StepMeans, Tally} from './run.js';

export class Draft {
	readonly definition: Definition;
	readonly means: StepMeans;
	readonly #before: RunView;
	#head: RunHead;
	readonly #frames = new Map<string, Frame | null>();
	readonly #tallies = new Map<string, Tally | null>();
	readonly #commands: RunCommand[] = [];
	readonly #news: RunNews[] = [];

	constructor(definition: Definition, before: RunView, means: StepMeans) {
		this.definition = definition;
		this.means = means;
		this.#before = before;
		this.#head = before.head;
	}

	get head(): RunHead {
		return this.#head;
	}

	/** A frame as this step has it. */
	frame(id: string): Frame | undefined {
		const changed = this.#frames.get(id);
		return changed === undefined ? this.#before.frame(id) : (changed ?? undefined);
	}

	put(frame: Frame): Frame {
		this.#frames.set(frame.id, frame);
		return frame;
	}

	/** The tally of a frame's children as this step has it. */
	tally(id: string): Tally {
		const changed = this.#tallies.get(id);
		const found = changed === undefined ? this.#before.tally(id) : changed;
		return found ?? {frame: id, started: 0, ended: 0, failed: 0, bytes: 0};
	}

	putTally(tally: Tally): void {
		this.#tallies.set(tally.frame, tally);
	}

	removeTally(id: string): void {
		this.#tallies.set(id, null);
	}

	remove(id: string): void {
		this.#frames.set(id, null);
	}

	command(command: RunCommand): void {
		this.#commands.push(command);
	}

	tell(news: RunNews): void {
		this.#news.push(news);
	}

	end(ending: RunEnding): void {
		this.#head = {...this.#head, ending};
		this.command({type: 'endRun', ending});
	}

	step(): Step {
		return {
			head: this.#head === this.#before.head ? undefined : this.#head,
			frames: this.#frames,
			tallies: this.#tallies,
			commands: this.#commands,
			news: this.#news,
		};
	}
}

/** The machine that a frame is in. */
export function machineOf(definition: Definition, {scope}: Frame): StateMachine {
	return scope.reduce<StateMachine>((machine, {state, branch}) => {
		const found = stateNamed(machine, state);
		if (found?.Type === 'Map') return processorOf(found);
		const inner = found?.Type === 'Parallel' ? found.Branches[branch] : undefined;
		if (inner === undefined) throw new Error(`the definition has no machine at ${state}`);
		return inner;
	}, definition);
}

/** The state that a frame is in. */
export function stateOf(definition: Definition, frame: Frame): State {
	const state = stateNamed(machineOf(definition, frame), frame.state);
	if (state === undefined) throw new Error(`the definition has no state ${frame.state}`);
	return state;
}
