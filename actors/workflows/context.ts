// The context object of a state, `$$`.

import type {Json} from '../../api/object.js';
import {newBudget} from '../../api/states-language/budget.js';
import type {MapState} from '../../api/states-language/definition.js';
import {EvaluationError} from '../../api/states-language/errors.js';
import {nothing, valueAtText} from '../../api/states-language/path.js';
import {isDefinite, parsePathText} from '../../api/states-language/path-syntax.js';
import type {Scope} from '../../api/states-language/template.js';
import {timeText} from '../../api/states-language/timestamp.js';
import {stateOf, type Draft} from './draft.js';
import {keyOf} from './keys.js';
import type {Frame} from './run.js';

export type MapItem = {readonly index: number; readonly value: Json};

/** What paths, templates and rules of the state that a frame is in are evaluated with. */
export function scopeOf(draft: Draft, frame: Frame, data: Json, item?: MapItem): Scope {
	// Made once: what it holds may have to be looked for.
	let context: Json | undefined;
	return {data, context: () => (context ??= contextOf(draft, frame, item)), budget: newBudget(), tools: draft.means.tools};
}

function contextOf(draft: Draft, frame: Frame, item: MapItem | undefined): Json {
	const {head} = draft;
	const around = item ?? itemAround(draft, frame);
	return {
		Execution: {Id: head.id, Name: head.name, Input: head.input, StartTime: timeText(head.startedAtMs)},
		StateMachine: {Id: head.workflow, Name: head.workflow},
		State: {Name: frame.state, EnteredTime: timeText(frame.enteredAtMs), RetryCount: frame.attempt - 1},
		Task: {Token: tokenOf(draft, keyOf(head, frame))},
		...(around === undefined ? {} : {Map: {Item: {Index: around.index, Value: around.value}}}),
	};
}

const tokenOf = ({means}: Draft, key: string): string => means.tokenOf?.(key) ?? key;

/** The item of the nearest Map that the frame is in. */
function itemAround(draft: Draft, frame: Frame): MapItem | undefined {
	for (let inner = frame; inner.parent !== null;) {
		const outer = draft.frame(inner.parent);
		if (outer === undefined) return undefined;
		const state = stateOf(draft.definition, outer);
		if (state.Type === 'Map') return {index: inner.index, value: itemsOf(draft, outer, state)[inner.index] ?? null};
		inner = outer;
	}
	return undefined;
}

/** The data of a state after its InputPath. */
export function inputOf(draft: Draft, frame: Frame, {InputPath = '$'}: {readonly InputPath?: string | null}): Json {
	return InputPath === null ? {} : runtimeValue(InputPath, scopeOf(draft, frame, frame.input), 'InputPath');
}

/** The items that a Map goes through: the same at each look, since paths have no chance in them. */
export function itemsOf(draft: Draft, frame: Frame, state: MapState): readonly Json[] {
	const {phase} = frame;
	if (phase.type === 'children' && phase.input !== null) return phase.input as readonly Json[];
	const {ItemsPath = '$'} = state;
	const items = runtimeValue(ItemsPath, scopeOf(draft, frame, inputOf(draft, frame, state)), 'ItemsPath');
	if (!Array.isArray(items)) throw new EvaluationError('States.Runtime', `ItemsPath ${ItemsPath} must find a list`);
	return items as readonly Json[];
}

/** Whether the items are found by a few looks: each child looks for its own. */
export const isCheap = ({InputPath = '$', ItemsPath = '$'}: MapState): boolean =>
	[InputPath ?? '$', ItemsPath].every(text => isDefinite(parsePathText(text).segments));

/** The value of a path that has to have one. */
export function runtimeValue(path: string, scope: Scope, field: string): Json {
	const value = valueAtText(path, scope);
	if (value === nothing) throw new EvaluationError('States.Runtime', `${field}: there is nothing at ${path}`);
	return value;
}

/** The same of a number of seconds or of items. */
export function runtimeNumber(
	path: string,
	scope: Scope,
	field: string,
	{least = 0, most}: {readonly least?: number; readonly most: number},
): number {
	const value = runtimeValue(path, scope, field);
	if (typeof value === 'number' && value >= least && value <= most) return value;
	throw new EvaluationError('States.Runtime', `${field}: there must be a number from ${least} to ${most} at ${path}`);
}
