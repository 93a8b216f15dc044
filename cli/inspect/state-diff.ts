// What differs between two states: a line for each place that changed, came or went. Pure.

import {deepEqual} from '../../api/equal.js';
import type {Shown} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {partsOf, valueText} from './shown-parts.js';

type Difference = {
	/** `object.status.phase`, `conditions[Ready].status`. */
	readonly at: string;
	/** Undefined: it came. */
	readonly before: Shown | undefined;
	/** Undefined: it went. */
	readonly after: Shown | undefined;
};

/** In the order of the first state, what came last. */
export function differencesOf(before: Shown, after: Shown, at = ''): readonly Difference[] {
	if (deepEqual(before, after)) return [];
	const [from, to] = [membersOf(before), membersOf(after)];
	if (from === undefined || to === undefined || from.isList !== to.isList) return [{at, before, after}];
	const names = [...from.members.keys(), ...[...to.members.keys()].filter(name => !from.members.has(name))];
	return names.flatMap(name => {
		const place = from.isList ? `${at}[${name}]` : at === '' ? name : `${at}.${name}`;
		const [one, other] = [from.members.get(name), to.members.get(name)];
		if (one === undefined || other === undefined) return [{at: place, before: one, after: other}];
		return differencesOf(one, other, place);
	});
}

type Members = {readonly isList: boolean; readonly members: ReadonlyMap<string, Shown>};

function membersOf(value: Shown): Members | undefined {
	const parts = partsOf(value);
	if (parts === undefined) return undefined;
	const {isList, entries} = parts;
	const names = isList ? entries.map(([, item]) => keyOf(item)) : [];
	const areKeys = names.every(name => name !== undefined) && new Set(names).size === names.length;
	return {isList, members: new Map(entries.map(([name, item], at) => [isList && areKeys ? (names[at] ?? name) : name, item]))};
}

/** What tells an item of a list from the others, as lists of Kubernetes have it: so one that moved is the same. */
function keyOf(item: Shown): string | undefined {
	if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
	const {name, type, uid, address} = item as {readonly [member: string]: Shown | undefined};
	return [name, type, uid, address].find((key): key is string => typeof key === 'string');
}

/** `~ at: before → after`, `+ at: after`, `- at: before`; at most so many, the rest is counted. */
export function drawDifferences(differences: readonly Difference[], most: number, colours: Colours): readonly string[] {
	const lines = differences.slice(0, most).map(({at, before, after}) => {
		const place = at === '' ? 'the state' : inOneLine(at);
		if (before === undefined) return `${colours.green('+')} ${place}: ${after === undefined ? '' : valueText(after, colours)}`;
		if (after === undefined) return `${colours.red('-')} ${place}: ${valueText(before, colours)}`;
		return `${colours.yellow('~')} ${place}: ${valueText(before, colours)} → ${valueText(after, colours)}`;
	});
	const more = differences.length - lines.length;
	return more > 0 ? [...lines, colours.dim(`… ${more} more`)] : lines;
}
