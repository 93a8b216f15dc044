// What `troupe taint` takes, and what it makes of the taints a node has. Pure.

import type {Taint} from '../../api/kinds/node.js';
import {didYouMean} from '../../api/suggest.js';

export type TaintChange =
	| {readonly type: 'set'; readonly taint: Taint}
	/** Without an effect: of every effect. */
	| {readonly type: 'remove'; readonly key: string; readonly effect: Taint['effect'] | undefined};

const effects: readonly Taint['effect'][] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Names have none of these: the first word that does begins the taints. */
export const isTaintWord = (word: string): boolean => /[=:]|-$/.test(word);

/** Reads `key=value:Effect`, `key:Effect`, `key:Effect-`, `key-`. A text is what is wrong with it. */
export function parseTaint(word: string): TaintChange | string {
	const removes = word.endsWith('-');
	const [head = '', effect, ...more] = (removes ? word.slice(0, -1) : word).split(':');
	const [key = '', value, ...values] = head.split('=');
	if (key === '' || more.length > 0 || values.length > 0) return `"${word}" is no taint: ${form}`;
	const known = effects.find(each => each === effect);
	if (effect !== undefined && known === undefined)
		return `"${word}": the effect must be ${effects.join(', ')}${didYouMean(effect, effects)}`;
	if (removes) return {type: 'remove', key, effect: known};
	if (known === undefined) return `"${word}" has no effect: ${form}`;
	return {type: 'set', taint: {key, ...(value === undefined || value === '' ? {} : {value}), effect: known}};
}

const form = 'KEY=VALUE:EFFECT or KEY:EFFECT sets one, KEY:EFFECT- or KEY- removes';

/** The same key and effect. */
const isSame = (a: Taint, b: Taint): boolean => a.key === b.key && a.effect === b.effect;

/** What is asked for twice, or both ways. */
export function contradictions(changes: readonly TaintChange[]): readonly string[] {
	const sets = changes.flatMap(change => (change.type === 'set' ? [change.taint] : []));
	const twice = sets.filter((taint, at) => sets.findIndex(each => isSame(each, taint)) < at);
	const both = changes.filter(change => change.type === 'remove' && sets.some(taint => isMeant(taint, change)));
	return [
		...twice.map(({key, effect}) => `${key}:${effect} is given twice`),
		...both.map(change => `${change.type === 'remove' ? change.key : ''} is both set and removed`),
	];
}

const isMeant = (taint: Taint, {key, effect}: Extract<TaintChange, {type: 'remove'}>): boolean =>
	taint.key === key && (effect === undefined || taint.effect === effect);

export type Tainted =
	| {readonly ok: true; readonly taints: readonly Taint[]; readonly word: 'tainted' | 'untainted' | 'modified' | 'unchanged'}
	| {readonly ok: false; readonly problems: readonly string[]};

/** The taints a node has then. What there is with another value stays unless `overwrite`; what is removed must be there. */
export function changeTaints(old: readonly Taint[], changes: readonly TaintChange[], overwrite: boolean): Tainted {
	const problems: string[] = [];
	let taints = [...old];
	let [set, removed] = [false, false];
	for (const change of changes) {
		if (change.type === 'remove') {
			const left = taints.filter(taint => !isMeant(taint, change));
			if (left.length === taints.length) problems.push(missing(change, old));
			removed ||= left.length < taints.length;
			taints = left;
			continue;
		}
		const {taint} = change;
		const there = taints.find(each => isSame(each, taint));
		if (there !== undefined && (there.value ?? '') === (taint.value ?? '')) continue;
		if (there !== undefined && !overwrite)
			problems.push(`${taint.key}:${taint.effect} is there already, with the value "${there.value ?? ''}"; --overwrite replaces it`);
		set = true;
		taints = there === undefined ? [...taints, taint] : taints.map(each => (each === there ? taint : each));
	}
	if (problems.length > 0) return {ok: false, problems};
	const word = set && (removed || overwrite) ? 'modified' : set ? 'tainted' : removed ? 'untainted' : 'unchanged';
	return {ok: true, taints, word};
}

function missing({key, effect}: Extract<TaintChange, {type: 'remove'}>, old: readonly Taint[]): string {
	const name = effect === undefined ? key : `${key}:${effect}`;
	const known = old.map(taint => (effect === undefined ? taint.key : `${taint.key}:${taint.effect}`));
	return `taint "${name}" not found${didYouMean(name, known)}`;
}
