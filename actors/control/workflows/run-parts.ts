// What is kept of a run beside its object: its frames, their tallies, the secret of its task tokens, and of very many states under way how many there
// are of each name. And the run as the machine reads it.

import type {Run, RunStatus} from '../../../api/kinds/run.js';
import {objectKey, type ObjectKey} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import type {Frame, RunHead, RunView, Step, Tally} from '../../workflows/run.js';

const framePrefix = 'frame/';
const tallyPrefix = 'tally/';
const secretPart = 'secret';
const atPart = 'at';

export const runKeyOf = ({metadata}: Run): ObjectKey => objectKey('runs', metadata.namespace, metadata.name);

/** The machine's head of a run that is under way. */
export const headOf = ({metadata, spec, status}: Run): RunHead => ({
	id: metadata.uid,
	name: metadata.name,
	workflow: spec?.workflow ?? '',
	startedAtMs: Date.parse(status?.startTime ?? metadata.creationTimestamp),
	input: spec?.input ?? {},
	ending: null,
});

/** A frame that is kept; undefined: there is none. */
export const frameIn = (known: Pick<Known, 'part'>, run: ObjectKey, id: string): Frame | undefined =>
	known.part(run, framePrefix + id) as Frame | undefined;

export const viewOf = (run: Run, known: Known): RunView => {
	const key = runKeyOf(run);
	return {
		head: headOf(run),
		frame: id => frameIn(known, key, id),
		tally: id => known.part(key, tallyPrefix + id) as Tally | undefined,
	};
};

/** All frames that are kept of a run. */
export const framesOf = (run: ObjectKey, known: Known): readonly Frame[] =>
	[...known.partsOf(run)].flatMap(([name, part]) => (name.startsWith(framePrefix) ? [part as unknown as Frame] : []));

/** What a step changes of what is kept. */
export function partsOfStep({frames, tallies}: Pick<Step, 'frames' | 'tallies'>): Map<string, Json | undefined> {
	const parts = new Map<string, Json | undefined>();
	// Before frames, of which nobody waits for those that are found again: a tally is counted on by the next state of its frame.
	for (const [id, tally] of tallies) parts.set(tallyPrefix + id, tally ?? undefined);
	for (const [id, frame] of frames) parts.set(framePrefix + id, frame ?? undefined);
	return parts;
}

/** What tokens of its tasks are made with; undefined before it has begun. */
export const secretIn = (known: Pick<Known, 'part'>, run: ObjectKey): string | undefined => {
	const secret = known.part(run, secretPart);
	return typeof secret === 'string' ? secret : undefined;
};

export const secretOf = (secret: string): readonly [name: string, value: Json] => [secretPart, secret];

type At = NonNullable<RunStatus['at']>;

/** How many states of each name are under way: all of them, where the status has only the first names. */
export const atIn = (run: Run, known: Pick<Known, 'part'>): At =>
	(known.part(runKeyOf(run), atPart) as At | undefined) ?? run.status?.at ?? [];

/** What of that is kept beside the status, where it is more than the status has, or was before. */
export const partsOfAt = (run: Run, at: At, known: Pick<Known, 'part'>): ReadonlyMap<string, Json | undefined> => {
	if (at.length > limits.runAtStates) return new Map([[atPart, at]]);
	return known.part(runKeyOf(run), atPart) === undefined ? new Map() : new Map([[atPart, undefined]]);
};
