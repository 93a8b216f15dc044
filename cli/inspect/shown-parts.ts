// What a shown value is made of, its tags understood (`Shown` in api/inspect.ts): a leaf with a text, or named parts. Pure.

import {counted} from '../../api/counted.js';
import type {Shown} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';

export type Parts = {
	readonly isList: boolean;
	/** The class, for what is no plain object or list: `Map`. */
	readonly label: string;
	readonly entries: readonly (readonly [name: string, value: Shown])[];
	/** So many are left out. */
	readonly more: number;
};

type Tagged = {
	readonly $: string;
	readonly of?: Shown;
	readonly size?: number;
	readonly count?: number;
	readonly up?: number;
	readonly characters?: number;
};
type Members = {readonly [member: string]: Shown};

const isMembers = (value: Shown | undefined): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTagged = (value: Shown | undefined): value is Members & Tagged => isMembers(value) && typeof value['$'] === 'string';

/** Tags of what has no parts that are shown. */
const leaves: ReadonlySet<string> = new Set([
	'undefined',
	'number',
	'bigint',
	'date',
	'bytes',
	'function',
	'symbol',
	'getter',
	'secret',
	'cycle',
	'text',
	'deeper',
	'more',
]);

/** Undefined for a leaf. */
export function partsOf(value: Shown): Parts | undefined {
	if (typeof value !== 'object' || value === null) return undefined;
	if (Array.isArray(value)) return listParts(value as readonly Shown[], '');
	if (!isTagged(value)) return memberParts(value as Members, '');
	if (leaves.has(value.$)) return undefined;
	const {$, of} = value;
	if ($ === 'set') return listParts(Array.isArray(of) ? (of as readonly Shown[]) : [], 'Set');
	if ($ === 'map') return Array.isArray(of) ? pairParts(of as readonly Shown[]) : memberParts(isMembers(of) ? of : {}, 'Map');
	return memberParts(isMembers(of) ? of : {}, $ === 'object' ? '' : $);
}

/** Whether there is something below it, shown or left out since it lies too deep. */
export function hasParts(value: Shown): boolean {
	if (isTagged(value) && value.$ === 'deeper') return value.size !== 0;
	const parts = partsOf(value);
	return parts !== undefined && parts.entries.length + parts.more > 0;
}

const countOf = (value: Shown | undefined): number => (isTagged(value) && value.$ === 'more' ? (value.count ?? 0) : 0);

function listParts(items: readonly Shown[], label: string): Parts {
	const more = countOf(items.at(-1));
	const told = more > 0 ? items.slice(0, -1) : items;
	return {isList: true, label, entries: told.map((item, at) => [String(at), item]), more};
}

function memberParts(members: Members, label: string): Parts {
	const more = countOf(members['…']);
	const entries = Object.entries(members).filter(([name]) => more === 0 || name !== '…');
	return {isList: false, label, entries, more};
}

/** A map whose keys are no texts. */
function pairParts(pairs: readonly Shown[]): Parts {
	const {entries, more} = listParts(pairs, 'Map');
	const named = entries.map(([at, pair]): [string, Shown] => {
		const [key = at, value = null] = Array.isArray(pair) ? (pair as readonly Shown[]) : [at, pair];
		return [typeof key === 'string' ? key : JSON.stringify(key), value];
	});
	return {isList: false, label: 'Map', entries: named, more};
}

/** How many parts something has, for where they are folded. */
export const foldedText = ({isList, label, entries, more}: Parts): string =>
	`… ${label === '' ? '' : `${label} of `}${counted(entries.length + more, isList ? 'item' : 'member')}`;

/** A value in one line, as JSON has it but for names of members. */
export function valueText(value: Shown, colours: Colours): string {
	if (typeof value === 'string') return colours.green(inOneLine(JSON.stringify(value)));
	if (value === null) return colours.dim('null');
	if (typeof value === 'number') return colours.cyan(String(value));
	if (typeof value === 'boolean') return colours.yellow(String(value));
	const parts = partsOf(value);
	if (parts === undefined) return isTagged(value) ? leafText(value, colours) : '';
	const {isList, label, entries, more} = parts;
	const texts = entries.map(([name, one]) => `${isList ? '' : `${inOneLine(name)}: `}${valueText(one, colours)}`);
	const inside = [...texts, ...(more > 0 ? [colours.dim(`… ${more} more`)] : [])].join(', ');
	return `${label === '' ? '' : `${inOneLine(label)} `}${isList ? `[${inside}]` : `{${inside}}`}`;
}

function leafText({$, of, size = 0, up = 0, characters = 0, count = 0}: Tagged, colours: Colours): string {
	const text = typeof of === 'string' ? of : '';
	switch ($) {
		case 'number':
		case 'bigint':
		case 'date':
			return colours.cyan(inOneLine(text));
		case 'bytes':
			return colours.dim(counted(size, 'byte'));
		case 'function':
		case 'symbol':
			return colours.dim(`${$} ${inOneLine(text)}`.trimEnd());
		case 'cycle':
			return colours.dim(`the one ${up} above`);
		case 'text':
			return `${colours.green(inOneLine(JSON.stringify(text)))}${colours.dim(`… of ${characters} characters`)}`;
		case 'deeper':
			return colours.dim(`… ${text === 'list' || text === 'set' ? counted(size, 'item') : size > 0 ? counted(size, 'member') : text}`);
		case 'more':
			return colours.dim(`… ${count} more`);
		default:
			return colours.dim($);
	}
}
