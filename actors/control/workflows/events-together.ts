// Events of one run that came while a transaction was on its way, as one step: each is still one step of the machine, of branches or items that do not
// wait for each other. None of them is begun further than its own step: what follows from it comes after the commit, as always.

import {limits} from '../../../api/limits.js';
import type {Definition} from '../../../api/states-language/definition.js';
import type {Frame, RunCommand, RunEvent, RunHead, RunNews, RunView, Step, StepMeans, Tally} from '../../workflows/run.js';
import {stepRun} from '../../workflows/step.js';

export type Taken = {
	readonly step: Step;
	/** How many of the events are in it, from the first: at least one. */
	readonly events: number;
};

/** While it is made. */
type Together = {
	head: RunHead | undefined;
	readonly frames: Map<string, Frame | null>;
	readonly tallies: Map<string, Tally | null>;
	readonly commands: RunCommand[];
	readonly news: RunNews[];
	size: Size;
};

/** Frames and tallies that are written, and the characters of the frames and of what the history says, as JSON. */
type Size = {readonly parts: number; readonly characters: number};

/** What events come to, one after the other: as many of them as one transaction surely takes, and the first in any case. */
export function stepsTogether(definition: Definition, run: RunView, events: readonly RunEvent[], means: StepMeans): Taken {
	const all: Together = {
		head: undefined,
		frames: new Map(),
		tallies: new Map(),
		commands: [],
		news: [],
		size: {parts: 0, characters: 0},
	};
	const view: RunView = {
		get head() {
			return all.head ?? run.head;
		},
		frame: id => changed(all.frames, id, run.frame),
		tally: id => changed(all.tallies, id, run.tally),
	};
	let taken = 0;
	for (const event of events) {
		const step = stepRun(definition, view, event, means);
		// Of one event nobody has to know how large it is.
		const size = events.length > 1 ? sizeWith(all, step) : all.size;
		if (taken > 0 && !fits(size)) break;
		add(all, step, size);
		taken++;
	}
	const {size: _size, ...step} = all;
	return {step, events: taken};
}

/** What was made of a record, or as it was before. */
function changed<Record>(
	changes: ReadonlyMap<string, Record | null>,
	id: string,
	before: (id: string) => Record | undefined,
): Record | undefined {
	const after = changes.get(id);
	return after === undefined ? before(id) : (after ?? undefined);
}

const fits = ({parts, characters}: Size): boolean => characters <= limits.runCharactersTogether && parts <= limits.runPartsTogether;

function sizeWith({frames, tallies, size}: Together, step: Step): Size {
	return {
		parts: size.parts + furtherIn(frames, step.frames) + furtherIn(tallies, step.tallies),
		characters: size.characters + charactersOf(step),
	};
}

/** How many are written of which none was. */
function furtherIn<Record>(before: ReadonlyMap<string, Record | null>, after: ReadonlyMap<string, Record | null>): number {
	let count = 0;
	for (const [id, record] of after) if (record !== null && (before.get(id) ?? null) === null) count++;
	return count;
}

/** Of what it writes: each is within its bounds, the cause of an error, too, but not many of them. */
function charactersOf({frames, news}: Step): number {
	let characters = news.length === 0 ? 0 : JSON.stringify(news).length;
	for (const frame of frames.values()) if (frame !== null) characters += JSON.stringify(frame).length;
	return characters;
}

function add(all: Together, step: Step, size: Size): void {
	all.size = size;
	all.head = step.head ?? all.head;
	for (const [id, frame] of step.frames) all.frames.set(id, frame);
	for (const [id, tally] of step.tallies) all.tallies.set(id, tally);
	all.commands.push(...step.commands);
	all.news.push(...step.news);
}
