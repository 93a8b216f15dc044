// Keys of tasks and timers: one for each attempt of each visit of a state, in one run. One builder and one parser.

import type {Frame, RunHead} from './run.js';

/** What of a state's name stands in a key, which is unique without it. */
const nameCharacters = 40;

const shortName = (state: string): string => state.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, nameCharacters);

const workOf = ({id, visit, state, attempt}: Frame): string => `${id}${visit}-${shortName(state)}.${attempt}`;

/** What a frame's state is called among the states under way of its run, from entering it to leaving it, whatever its attempts. */
export const nodeNameOf = ({id, visit, state}: Pick<Frame, 'id' | 'visit' | 'state'>): string =>
	`${id}${visit}-${shortName(state)}`.replaceAll('/', '.');

/** The key of what a frame does now: `RUN/3-Charge.1`, and in the second item of a Map `RUN/2-Each.1.1/1-Charge.1`. */
export const keyOf = ({id}: Pick<RunHead, 'id'>, frame: Frame): string => `${id}/${workOf(frame)}`;

/** The frame of a branch or an item that this frame's work begins. */
export const childId = (frame: Frame, index: number): string => childIdsOf(frame)(index);

/** The same of many. */
export function childIdsOf(frame: Frame): (index: number) => string {
	const work = workOf(frame);
	return index => `${work}.${index}/`;
}

/** The frame whose work has that key; undefined for keys of other runs. */
export function frameOfKey({id}: Pick<RunHead, 'id'>, key: string): string | undefined {
	return key.startsWith(`${id}/`) ? key.slice(id.length + 1, key.lastIndexOf('/') + 1) : undefined;
}

/** What a timer is for. */
export const timerKinds = ['wait', 'retry', 'timeout', 'heartbeat'] as const;

export type TimerKind = (typeof timerKinds)[number];

export const timerOf = (key: string, kind: TimerKind): string => `${key}#${kind}`;

/** The key and the kind of a timer; undefined for a text that is none. */
export function parseTimer(timer: string): {readonly key: string; readonly kind: TimerKind} | undefined {
	const at = timer.lastIndexOf('#');
	const kind = timerKinds.find(each => each === timer.slice(at + 1));
	return kind === undefined || at < 0 ? undefined : {key: timer.slice(0, at), kind};
}

/** The timer of a whole run. */
export const runTimerOf = ({id}: Pick<RunHead, 'id'>): string => `${id}#run`;
