// What `why` finds out about one object, and what it finds it from.

import {kindOf} from '../../api/catalogue.js';
import type {ActorTree, FaultLook} from '../../api/inspect.js';
import {objectKey, type Address, type ObjectKey} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {Known} from '../../system/index/object-index.js';
import type {ObjectEvent} from '../control-plane.js';
import type {HistoryRecord} from '../workflows/run-history.js';

/** Nothing is wrong; it is on its way, or waits for something that comes by itself; somebody has to do something; it is over as it should be. */
export type State = 'fine' | 'waits' | 'wrong' | 'over';

/** What comes next by itself, or what would help. */
export type NextAction = {
	readonly says: string;
	/** When, by the clock of the control plane; undefined: that is not known. */
	readonly atMs?: number;
};

/** One step of the way from the symptom to its cause. */
export type Link = {
	/** `deployment/web`, `container app`, `actor troupe://control/pods/default.web`. */
	readonly about: string;
	readonly says: string;
	/** Since when, or when. */
	readonly atMs?: number;
	/** The last lines of a container's log, the newest last. */
	readonly lines?: readonly string[];
	/** Whether lines of that container's log belong here, should its node have them. */
	readonly log?: LogWanted;
};

/** Whose last lines would tell more. */
export type LogWanted = {
	readonly namespace: string;
	readonly pod: string;
	readonly uid: string;
	readonly node: string;
	readonly container: string;
};

export type Finding = {
	readonly state: State;
	/** What follows the object's name: `crashes`. */
	readonly is: string;
	/** Why, as a clause; '' where `is` says all. */
	readonly because: string;
	/** From the object itself to the root. */
	readonly chain: readonly Link[];
	readonly next?: NextAction | undefined;
};

/** The object's own link aside, which is made of the rest. */
export type Found = Omit<Finding, 'chain'> & {
	/** What the object's own link says; without it `is` and `because`. */
	readonly says?: string;
	readonly atMs?: number | undefined;
	readonly below?: readonly Link[];
};

/** What is looked at. Read only; nothing of it is a Secret's value. */
export type Evidence = {
	readonly known: Known;
	readonly nowMs: number;
	readonly eventsOf: (key: ObjectKey) => readonly ObjectEvent[];
	/** An actor of any host with those below it; undefined where it is not there, or is not known yet. */
	readonly actorAt: (address: Address) => ActorTree | undefined;
	/** The fault that cuts a node off; undefined: none is known. */
	readonly partitionOf: (system: string) => FaultLook | undefined;
	/** What an object owned that is gone, as it was last. */
	readonly goneOwnedBy: (uid: string) => Iterable<ApiObject>;
	/** The object is gone: what it owned went with it. */
	readonly isGone: boolean;
	/** The last records of the history of a run; undefined where they are not known, or not yet. */
	readonly historyOf?: (key: ObjectKey) => readonly HistoryRecord[] | undefined;
	/** Why another object is as it is; undefined where the way has been there before. */
	readonly causeOf?: (object: ApiObject) => Finding | undefined;
};

export const keyOf = ({apiVersion, kind, metadata}: ApiObject): ObjectKey =>
	objectKey(kindOf(apiVersion, kind)?.plural ?? kind.toLowerCase(), metadata.namespace, metadata.name);

/** `deployment/web`. */
export const aboutOf = ({kind, metadata}: Pick<ApiObject, 'kind' | 'metadata'>): string => `${kind.toLowerCase()}/${metadata.name}`;

/** `Deployment web`. */
export const titleOf = ({kind, metadata}: Pick<ApiObject, 'kind' | 'metadata'>): string => `${kind} ${metadata.name}`;

/** A finding with the link of its own object first. */
export function finding(object: ApiObject, {says, atMs, below = [], ...found}: Found): Finding {
	const text = says ?? clause(found.is, found.because);
	return {...found, chain: [{about: aboutOf(object), says: text, ...(atMs === undefined ? {} : {atMs})}, ...below]};
}

export const fine = (object: ApiObject, because: string, more: Partial<Found> = {}): Finding =>
	finding(object, {state: 'fine', is: 'is fine', because, says: because, ...more});

export const clause = (is: string, because: string): string => (because === '' ? is : `${is}: ${because}`);

/** The newest event of an object with one of these reasons, and of this part of it where one is named. */
export function newestEvent(events: readonly ObjectEvent[], reasons: readonly string[], fieldPath?: string): ObjectEvent | undefined {
	return events.findLast(each => reasons.includes(each.reason) && (fieldPath === undefined || each.fieldPath === fieldPath));
}

/** What an owner has: of one that is gone, what went with it. */
export const ownedBy = ({metadata: {uid}}: ApiObject, {known, goneOwnedBy, isGone}: Evidence): Iterable<ApiObject> =>
	isGone ? goneOwnedBy(uid) : known.byOwner(uid);

// ---- words ---------------------------------------------------------------------------------------------------------------

export {counted} from '../../api/counted.js';

/** `once` is not said. */
export function timesText(count: number): string {
	if (count <= 1) return '';
	return count === 2 ? ', twice' : `, ${count} times`;
}

/** `40 ms`, `3 s`, `2 min`, `5 h`, `3 d`. */
export function lengthText(ms: number): string {
	const length = Math.max(0, ms);
	if (length < 1_000) return `${Math.round(length)} ms`;
	if (length < 120_000) return `${Math.round(length / 1_000)} s`;
	if (length < 7_200_000) return `${Math.round(length / 60_000)} min`;
	return length < 172_800_000 ? `${Math.round(length / 3_600_000)} h` : `${Math.round(length / 86_400_000)} d`;
}

/** The time that a text says, in milliseconds; undefined when it says none. */
export function timeOf(text: string | undefined): number | undefined {
	const ms = text === undefined ? Number.NaN : Date.parse(text);
	return Number.isNaN(ms) ? undefined : ms;
}

/** `a, b and c`; of many the first few, and how many more. */
export function listText(words: readonly string[], most = 3): string {
	const shown = words.length > most ? [...words.slice(0, most), `${words.length - most} more`] : words;
	const last = shown.at(-1) ?? '';
	return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} and ${last}`;
}
