// What `troupe rollout` knows of a kind that is rolled out.

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
	readonly canPause: boolean;
};
