// The way of a result: ResultSelector, then ResultPath into the state's input, then OutputPath.

import type {Json, JsonObject} from '../../api/object.js';
import {withinBounds} from '../../api/states-language/data-bounds.js';
import {placed} from '../../api/states-language/reference-path.js';
import {filled} from '../../api/states-language/template.js';
import {runtimeValue, scopeOf} from './context.js';
import type {Draft} from './draft.js';
import type {Frame} from './run.js';

type Fields = {readonly ResultSelector?: JsonObject; readonly ResultPath?: string | null; readonly OutputPath?: string | null};

/** The output of a state that has this result. Throws EvaluationError. */
export function outputOf(draft: Draft, frame: Frame, fields: Fields, result: Json): Json {
	const {ResultSelector, ResultPath = '$'} = fields;
	withinBounds(result, 'the result');
	const selected = ResultSelector === undefined ? result : filled(ResultSelector, scopeOf(draft, frame, result));
	const whole = ResultPath === null ? frame.input : placed(frame.input, ResultPath, withinBounds(selected, 'the result'));
	return filteredOutput(draft, frame, fields, withinBounds(whole, 'the output'));
}

/** The data after OutputPath. */
export function filteredOutput(draft: Draft, frame: Frame, {OutputPath = '$'}: Pick<Fields, 'OutputPath'>, data: Json): Json {
	if (OutputPath === '$') return data;
	return OutputPath === null ? {} : withinBounds(runtimeValue(OutputPath, scopeOf(draft, frame, data), 'OutputPath'), 'the output');
}
