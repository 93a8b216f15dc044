// What a trigger of a function or of a workflow has seen: a time that has come, a change of an object, or a message of MQTT.

import {parseObjectKey, type ObjectKey} from '../../api/keys.js';
import type {FunctionObject, FunctionTrigger} from '../../api/kinds/function.js';
import type {Workflow, WorkflowTrigger} from '../../api/kinds/workflow.js';

/** An object that may have triggers. */
export type Triggered = FunctionObject | Workflow;

/** What only one kind has is left out of those of others. */
export type Trigger = FunctionTrigger & Pick<WorkflowTrigger, 'concurrencyPolicy'>;

/** Kinds whose objects may have triggers, by plural. */
export const triggeredPlurals = ['functions', 'workflows'] as const;

/** Whose trigger it is. */
export type TriggerTarget = {readonly plural: (typeof triggeredPlurals)[number]; readonly namespace: string; readonly name: string};

/** Undefined: the object is of a kind without triggers. */
export function targetOf(key: ObjectKey): TriggerTarget | undefined {
	const {plural, namespace, name} = parseObjectKey(key);
	const known = triggeredPlurals.find(each => each === plural);
	return known === undefined ? undefined : {plural: known, namespace, name};
}

export type Occasion = {readonly target: TriggerTarget; readonly trigger: Trigger; readonly seen: Seen};

export type Seen =
	/** `params` is JSON. */
	| {readonly type: 'time'; readonly atMs: number; readonly params: string}
	| {
			readonly type: 'change';
			readonly key: ObjectKey;
			readonly change: ChangeWord;
			/** The object as the API shows it, as JSON. */
			readonly object: string;
			/** Workflows from whose runs it comes. */
			readonly causes: readonly string[];
	  }
	| {
			readonly type: 'message';
			readonly topic: string;
			readonly payload: Buffer;
			/** What the payload is as JSON; undefined where it is none. */
			readonly json: unknown;
			/** Who has published it; undefined: that is not known. */
			readonly login: string | undefined;
	  };

export type ChangeWord = 'created' | 'updated' | 'deleted';

/** Who makes something of what triggers see. */
export type Taker = {
	/** Resolves once what it comes to is committed. Throws AppError: ERR_NOT_FOUND where the target is gone, ERR_BUSY where too much waits. */
	readonly accept: (occasion: Occasion) => Promise<unknown>;
	/** Throws where there is no room for one of these just now: so that none is committed where another one cannot be. */
	readonly checkRoom: (occasions: readonly Occasion[]) => void;
	/** It was not accepted, and comes from nobody who tries again. */
	readonly giveUp: (occasion: Occasion, error: Error) => void;
};

/** By the plural of the target. */
export type Takers = {readonly [Plural in TriggerTarget['plural']]: Taker};
