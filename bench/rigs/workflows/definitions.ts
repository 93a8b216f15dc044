// Workflows that benchmarks run: states that call nothing, one call, calls without an end, and Maps.

import type {Json, JsonObject} from '../../../api/object.js';

/** What their Tasks call: `call` and `item` answer at once, `wait` after a second, `list` with the items of a Map. */
export type Called = 'call' | 'wait' | 'list' | 'item';

const task = (resource: Called, more: JsonObject = {}): JsonObject => ({Type: 'Task', Resource: resource, ...more});

/** A Pass and a Choice in turn, as often as the input says: `{"left": 1000}`. */
export const counting: JsonObject = {
	StartAt: 'Count',
	States: {
		Count: {Type: 'Pass', Parameters: {'left.$': 'States.MathAdd($.left, -1)'}, Next: 'IsDone'},
		IsDone: {Type: 'Choice', Choices: [{Variable: '$.left', NumericLessThanEquals: 0, Next: 'Done'}], Default: 'Count'},
		Done: {Type: 'Succeed'},
	},
};

/** One call. */
export const calling: JsonObject = {StartAt: 'Call', States: {Call: task('call', {End: true})}};

/** One call after the other, until the run is cancelled: its input never says that it is over. */
export const turning = (resource: Called): JsonObject => ({
	StartAt: 'Turn',
	States: {
		Turn: task(resource, {ResultPath: null, Next: 'IsOver'}),
		IsOver: {Type: 'Choice', Choices: [{Variable: '$.over', IsPresent: true, Next: 'Over'}], Default: 'Turn'},
		Over: {Type: 'Succeed'},
	},
});

/** What is short: three states, none of which calls anything. */
export const short: JsonObject = {
	StartAt: 'Take',
	States: {
		Take: {Type: 'Pass', ResultPath: '$.taken', Result: true, Next: 'IsLarge'},
		IsLarge: {Type: 'Choice', Choices: [{Variable: '$.amount', NumericGreaterThan: 1_000, Next: 'Refused'}], Default: 'Done'},
		Refused: {Type: 'Fail', Error: 'TooLarge', Cause: 'it is more than a thousand'},
		Done: {Type: 'Succeed'},
	},
};

/** The items are what `list` answers, so that the run's object stays small; or its input. */
export const mapping = (concurrency: number, from: 'task' | 'input'): JsonObject => {
	const each = {
		Type: 'Map',
		MaxConcurrency: concurrency,
		ItemsPath: '$.items',
		ItemProcessor: {StartAt: 'Item', States: {Item: task('item', {End: true})}},
		ResultPath: '$.done',
		OutputPath: '$.done[0]',
		End: true,
	};
	return from === 'input'
		? {StartAt: 'Each', States: {Each: each}}
		: {StartAt: 'List', States: {List: task('list', {ResultPath: '$.items', Next: 'Each'}), Each: each}};
};

/** So many small ones. */
export const itemsOf = (count: number): Json => Array.from({length: count}, (_, at) => ({n: at}));
