// What `troupe wait --for` waits for, and whether an object is there. Pure.

import type {ApiObject, Condition} from '../../api/object.js';
import {didYouMean} from '../../api/suggest.js';
import {asWord, parseJsonPath, valuesAt, type JsonPath} from './json-path.js';

export type WaitGoal =
	| {readonly type: 'delete'}
	| {readonly type: 'create'}
	| {readonly type: 'condition'; readonly name: string; readonly status: string}
	/** Without a value: that there is one. */
	| {readonly type: 'jsonpath'; readonly path: JsonPath; readonly value: string | undefined};

const forms = 'delete, create, condition=NAME[=STATUS] or jsonpath={PATH}[=VALUE]';

/** Reads the text behind `--for`. A text as answer is what is wrong with it. */
export function parseGoal(text: string): WaitGoal | string {
	if (text.toLowerCase() === 'delete') return {type: 'delete'};
	if (text.toLowerCase() === 'create') return {type: 'create'};
	const equals = text.indexOf('=');
	const [word, rest] = equals < 0 ? [text, ''] : [text.slice(0, equals), text.slice(equals + 1)];
	if (word.toLowerCase() === 'condition') return conditionGoal(rest);
	if (word.toLowerCase() === 'jsonpath') return pathGoal(rest);
	return `--for is ${forms}, got "${text}"${didYouMean(word, ['delete', 'create', 'condition', 'jsonpath'])}`;
}

function conditionGoal(text: string): WaitGoal | string {
	const [name = '', status = 'true', ...more] = text.split('=');
	if (name === '' || status === '' || more.length > 0) return `--for condition=NAME or condition=NAME=STATUS, got "condition=${text}"`;
	return {type: 'condition', name, status};
}

/** The value begins behind the closing brace, or behind the first `=` that is in no bracket. */
function pathGoal(text: string): WaitGoal | string {
	const end = text.startsWith('{') ? text.lastIndexOf('}') + 1 : endOfPath(text);
	const path = parseJsonPath(text.slice(0, end));
	const rest = text.slice(end);
	if (path === undefined || (rest !== '' && !rest.startsWith('=')))
		return `--for jsonpath={PATH}=VALUE, such as jsonpath={.status.phase}=Running, got "jsonpath=${text}"`;
	return {type: 'jsonpath', path, value: rest === '' ? undefined : rest.slice(1).replace(/^(["'])(.*)\1$/, '$2')};
}

function endOfPath(text: string): number {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		if (text[at] === '[') depth++;
		if (text[at] === ']') depth--;
		if (text[at] === '=' && depth === 0) return at;
	}
	return text.length;
}

type Observed = {
	readonly conditions?: readonly (Condition & {readonly observedGeneration?: number})[];
	readonly observedGeneration?: number;
};

/** Whether an object that is there is as wanted. */
export function isMet(goal: WaitGoal, {metadata, status, ...rest}: ApiObject): boolean {
	switch (goal.type) {
		case 'delete':
			return false;
		case 'create':
			return true;
		case 'condition': {
			const observed = (status ?? {}) as Observed;
			const condition = observed.conditions?.find(({type}) => type.toLowerCase() === goal.name.toLowerCase());
			if (condition === undefined) return false;
			// What was observed of an earlier spec says nothing of this one.
			const seen = condition.observedGeneration ?? observed.observedGeneration;
			if (seen !== undefined && seen < metadata.generation) return false;
			return condition.status.toLowerCase() === goal.status.toLowerCase();
		}
		case 'jsonpath': {
			const found = valuesAt(goal.path, {metadata, status, ...rest});
			return found.length > 0 && found.every(value => goal.value === undefined || asWord(value).trim() === goal.value.trim());
		}
	}
}

/** Who is waited for, by name (with the namespace in front where all are looked at), and the uid each had at first. */
export type Awaited = ReadonlyMap<string, string | undefined>;
type There = ReadonlyMap<string, ApiObject>;

/**
 * Who is waited for, of what there is at first: these names, else everything. Names that are not there are awaited only to be created,
 * and missing unless they shall be gone anyway. Undefined: none was created yet.
 */
export function beginWait(
	goal: WaitGoal,
	names: readonly string[],
	there: There,
): {readonly awaited: Awaited; readonly missing: readonly string[]} | undefined {
	const keys = names.length > 0 ? names : [...there.keys()];
	if (goal.type === 'create') return keys.length === 0 ? undefined : {awaited: new Map(keys.map(key => [key, undefined])), missing: []};
	const absent = keys.filter(key => !there.has(key));
	const awaited = new Map(keys.flatMap(key => (there.has(key) ? [[key, there.get(key)?.metadata.uid] as const] : [])));
	return {awaited, missing: goal.type === 'delete' ? [] : absent};
}

/** Who is as wanted now, who will never be, and who is left. */
export function lookAgain(goal: WaitGoal, awaited: Awaited, there: There) {
	const left = new Map(awaited);
	const met: string[] = [];
	const missing: string[] = [];
	for (const [key, uid] of awaited) {
		const object = there.get(key);
		// Another one of the same name is not the one that was there.
		const same = object !== undefined && (uid === undefined || object.metadata.uid === uid) ? object : undefined;
		const isGone = same === undefined;
		if (isGone ? goal.type === 'delete' : isMet(goal, same)) met.push(key);
		else if (isGone && goal.type !== 'create') missing.push(key);
		else continue;
		left.delete(key);
	}
	return {met, missing, awaited: left};
}
