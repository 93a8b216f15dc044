// What `troupe rollout` knows of a kind that is rolled out.

import {deepEqual} from '../../api/equal.js';
import type {ApiObject, Labels} from '../../api/object.js';
import type {Client} from '../client.js';

/** Labels, annotations and a spec of pods. */
export type Template = {readonly metadata?: {readonly labels?: Labels; readonly annotations?: Labels}; readonly spec?: unknown};

/** One version of an object's template. */
export type Revision = {
	readonly number: number;
	/** Why there is this version; undefined: nobody said. */
	readonly cause: string | undefined;
	readonly template: Template;
	/** What keeps it: a ReplicaSet, a ControllerRevision. */
	readonly object: ApiObject;
};

/** How far a rollout is, in kubectl's words. */
export type RolloutStatus = {readonly text: string; readonly isDone: boolean};

export const going = (text: string): RolloutStatus => ({text, isDone: false});

export type RolloutKind = {
	readonly kind: string;
	/** `revision`: the one that is meant; 0: the newest. Throws AppError when it failed, or another revision runs. */
	readonly statusOf: (object: ApiObject, revision: number) => RolloutStatus;
	/** Oldest first. */
	readonly revisionsOf: (client: Client, object: ApiObject) => Promise<readonly Revision[]>;
	/** The object as it is to be when it goes back to that version. */
	readonly restored: (object: ApiObject, revision: Revision) => ApiObject;
	/** The version before the one that the object is of now; undefined: there is none. */
	readonly previous: (object: ApiObject, revisions: readonly Revision[]) => Revision | undefined;
	/** Whether both make the same pods. */
	readonly isSame: (a: ApiObject, b: ApiObject) => boolean;
	readonly canPause: boolean;
	/** Why it is not restarted, of one by that name; undefined where it is. */
	readonly whyNoRestart?: (name: string) => string;
};

type WithTemplate = {readonly template?: Template};

/** Of a kind whose spec has the template. */
export const templateIn = ({spec}: ApiObject): Template | undefined => (spec as WithTemplate | undefined)?.template;

/** The same of kinds whose spec has the template, and whose newest version is the one that it has. */
export const withTemplate: Pick<RolloutKind, 'previous' | 'isSame'> = {
	previous: (_object, revisions) => revisions.at(-2),
	isSame(a, b) {
		const [one, other] = [templateIn(a), templateIn(b)];
		return (
			deepEqual(one?.spec, other?.spec) &&
			deepEqual(one?.metadata?.labels ?? {}, other?.metadata?.labels ?? {}) &&
			deepEqual(one?.metadata?.annotations ?? {}, other?.metadata?.annotations ?? {})
		);
	},
};
