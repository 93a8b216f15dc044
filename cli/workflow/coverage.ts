// Which states, choices and catchers of a definition no case has gone through.

import {statesIn, type Definition, type NamedState} from '../../api/states-language/definition.js';
import type {RunNews} from '../../actors/workflows/run.js';
import {catchName, choiceName} from '../runs/path-lines.js';

export type Part = {readonly total: number; readonly gone: number; readonly missing: readonly string[]};

export type Coverage = {readonly states: Part; readonly choices: Part; readonly catchers: Part};

export function coverageOf(definition: Definition, gone: ReadonlySet<string>): Coverage {
	const all = statesIn(definition);
	return {
		states: partOf(
			all.map(({name}) => name),
			gone,
		),
		choices: partOf(all.flatMap(choicesOf), gone),
		catchers: partOf(
			all.flatMap(({name, state}) => ('Catch' in state ? (state.Catch ?? []).map((_, at) => catchName(name, at)) : [])),
			gone,
		),
	};
}

/** What something that happens goes through, by its name. */
export function goneThrough(entry: RunNews): readonly string[] {
	if (entry.type === 'entered') return [entry.state];
	if (entry.type === 'chosen') return [choiceName(entry.state, entry.rule)];
	return entry.type === 'caught' ? [catchName(entry.state, entry.catcher)] : [];
}

const choicesOf = ({name, state}: NamedState): readonly string[] =>
	state.Type !== 'Choice'
		? []
		: [...state.Choices.map((_, at) => choiceName(name, at)), ...(state.Default === undefined ? [] : [choiceName(name, 'Default')])];

const partOf = (names: readonly string[], gone: ReadonlySet<string>): Part => {
	const missing = names.filter(name => !gone.has(name));
	return {total: names.length, gone: names.length - missing.length, missing};
};
