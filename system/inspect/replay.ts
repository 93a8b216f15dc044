// Plays recorded steps again, in a fresh copy of their behaviours and without a runtime: the states in between, what each step asks for,
// and where that is not what was recorded. With a behaviour that was mended since, the very same messages show what is another now.

import type {Address} from '../../api/keys.js';
import type {Json} from '../../api/object.js';
import type {AnyBehavior, Next} from '../kernel/behavior.js';
import {runCall, type StepCall} from '../kernel/step-call.js';
import {apply, deltaOf, type Delta} from './delta.js';
import {decode, encode, type Shared} from './portable.js';
import {replayContext} from './replay-context.js';
import {isReplayable, type ReplayableStep, type StepRecord} from './step-record.js';

export type Behaviors = {readonly [name: string]: AnyBehavior};

/** What a step made, in portable form. */
export type StepResult = {
	readonly state: Json;
	readonly effects: readonly Json[];
	readonly stop: boolean;
	readonly error: string | undefined;
};

export type PlayedStep = {
	readonly type: 'played';
	readonly record: ReplayableStep;
	readonly call: StepCall;
	readonly before: Json;
	readonly result: StepResult;
	readonly recorded: StepResult;
	/** From the recorded state to the one that came of it now; and the same of the effects. */
	readonly state: Delta;
	readonly effects: Delta;
	readonly isSame: boolean;
	/** What makes the replay less certain. */
	readonly notes: readonly string[];
};

/** One that could not be played, and why. */
export type SkippedStep = {readonly type: 'skipped'; readonly record: StepRecord; readonly why: string};

/** How it stands with one actor: the states that its recorded and its replayed steps left. */
type Place = {
	readonly recorded: Json;
	readonly replayed: Json;
	/** It crashed when it was recorded, and now it does not. */
	readonly isSpared: boolean;
};

/** In the order of the records; several actors at once. Throws for records that no recorder made. */
export function* replay(records: Iterable<StepRecord>, behaviors: Behaviors): Generator<PlayedStep | SkippedStep> {
	const places = new Map<Address, Place | undefined>();
	const shared: Shared = new Map();
	for (const record of records) {
		const {address} = record;
		const behavior = Object.hasOwn(behaviors, record.behavior) ? behaviors[record.behavior] : undefined;
		const place = places.get(address);
		if (!isReplayable(record)) {
			places.delete(address);
			yield {type: 'skipped', record, why: record.notReplayable};
		} else if (behavior === undefined) {
			yield {type: 'skipped', record, why: `no behaviour is called "${record.behavior}" here`};
		} else if (place === undefined && record.before === undefined) {
			yield {type: 'skipped', record, why: 'the step before it, from which it begins, is not there'};
		} else if (place?.isSpared === true && isBeginning(record)) {
			places.set(address, {...place, recorded: apply(apply(place.recorded, record.since ?? []), record.after), isSpared: false});
			yield {type: 'skipped', record, why: 'it was begun anew after a crash, which does not happen now'};
		} else {
			const {step, left} = played(record, behavior, place, shared);
			places.set(address, left);
			yield step;
		}
	}
}

const isBeginning = ({call}: ReplayableStep): boolean => ['init', 'resume'].includes((decode(call) as StepCall).type);

function played(record: ReplayableStep, behavior: AnyBehavior, place: Place | undefined, ofAll: Shared): {step: PlayedStep; left: Place} {
	const since = record.since ?? [];
	const begins = place === undefined || record.before !== undefined;
	const recordedBefore = begins ? (record.before ?? null) : apply(place.recorded, since);
	const before = begins ? recordedBefore : apply(place.replayed, since);
	// An actor that looks at committed objects may compare them with those in its state, by reference.
	const shared = record.context.reads === undefined ? undefined : ofAll;
	const call = decode(record.call, shared) as StepCall;
	const {context, notes} = replayContext(record, shared);
	const result = take(() => runCall(behavior, decode(before, shared), call, context), before);
	const recorded = resultOf(record, recordedBefore);
	const step = compared({record, call, before, result, recorded, notes: [...notes(), ...notesOf(record)]});
	const isSpared = recorded.error !== undefined && result.error === undefined;
	return {step, left: {recorded: recorded.state, replayed: result.state, isSpared}};
}

const notesOf = ({redacted}: ReplayableStep): readonly string[] =>
	redacted === true ? ['what is secret was left out of the record: what depends on it may go another way'] : [];

/** A step that throws leaves the state as it was. */
function take(run: () => Next<unknown>, before: Json): StepResult {
	try {
		const {state, effects, stop} = run();
		return {state: encode(state), effects: effects.map(effect => encode(effect)), stop: stop === true, error: undefined};
	} catch (error) {
		return {state: before, effects: [], stop: false, error: error instanceof Error ? error.message : String(error)};
	}
}

const resultOf = ({after, effects, stop, error}: ReplayableStep, before: Json): StepResult => ({
	state: apply(before, after),
	effects,
	stop: stop === true,
	error,
});

function compared(step: Omit<PlayedStep, 'type' | 'state' | 'effects' | 'isSame'>): PlayedStep {
	const {result, recorded} = step;
	const state = deltaOf(recorded.state, result.state);
	const effects = deltaOf(recorded.effects, result.effects);
	const isSame = state.length === 0 && effects.length === 0 && recorded.stop === result.stop && recorded.error === result.error;
	return {type: 'played', ...step, state, effects, isSame};
}
