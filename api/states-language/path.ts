// What a path finds in data. Names are members that the data has of itself: "constructor" and "__proto__" are names like all others.

import {deepEqual} from '../equal.js';
import {isObject, type Json} from '../object.js';
import {spend, type Budget} from './budget.js';
import {isDefinite, parsePathText, type Filter, type FilterPath, type Operand, type Path, type Segment} from './path-syntax.js';

/** The data that paths begin with. */
export type Roots = {
	/** `$`. */
	readonly data: Json;
	/** `$$`: made when it is asked for. */
	readonly context: () => Json;
	readonly budget: Budget;
};

/** Nothing is found: other than null, which may be the value. */
export const nothing: unique symbol = Symbol('nothing');

/** The value of a path that has one, or the list of all where it stands for several; `nothing` where a path of one value has none. */
export function valueAt(path: Path, roots: Roots): Json | typeof nothing {
	const root = path.root === '$' ? roots.data : roots.context();
	const found = select(path.segments, root, {root, budget: roots.budget});
	if (!isDefinite(path.segments)) return found;
	const [value = nothing] = found;
	return value;
}

/** The same of a path as it is written. Throws SyntaxProblem. */
export const valueAtText = (text: string, roots: Roots): Json | typeof nothing => valueAt(parsePathText(text), roots);

type Look = {readonly root: Json; readonly budget: Budget};

function select(segments: readonly Segment[], start: Json, look: Look): readonly Json[] {
	let found: readonly Json[] = [start];
	for (const segment of segments) {
		const next: Json[] = [];
		for (const value of found) collect(segment, value, look, next);
		found = next;
	}
	return found;
}

function collect(segment: Segment, value: Json, look: Look, into: Json[]): void {
	spend(look.budget, 1);
	switch (segment.type) {
		case 'names':
			for (const name of segment.names) push(into, memberOf(value, name), look);
			return;
		case 'indexes':
			if (isList(value)) for (const index of segment.indexes) push(into, value.at(index), look);
			return;
		case 'slice':
			if (isList(value)) for (const item of value.slice(segment.from, segment.to)) push(into, item, look);
			return;
		case 'all':
			for (const child of childrenOf(value)) push(into, child, look);
			return;
		case 'filter':
			for (const child of childrenOf(value)) if (holds(segment.filter, child, look)) push(into, child, look);
			return;
		case 'below':
			collectBelow(value, look, into);
	}
}

function push(into: Json[], value: Json | undefined, {budget}: Look): void {
	if (value === undefined) return;
	spend(budget, 1);
	into.push(value);
}

/** The value and all below it, in the order of the text. A list of what is still to be seen, and no recursion: data may be deep. */
function collectBelow(value: Json, look: Look, into: Json[]): void {
	const open: Json[] = [value];
	for (let next = open.pop(); next !== undefined; next = open.pop()) {
		push(into, next, look);
		const children = childrenOf(next);
		for (let at = children.length - 1; at >= 0; at--) {
			const child = children[at];
			if (child !== undefined) open.push(child);
		}
	}
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

const noChildren: readonly Json[] = [];

function childrenOf(value: Json): readonly Json[] {
	if (isList(value)) return value;
	return isObject(value) ? Object.values(value).filter(child => child !== undefined) : noChildren;
}

export const memberOf = (value: Json, name: string): Json | undefined =>
	isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

// ---- filters ------------------------------------------------------------------------------------------------------------------------

function holds(filter: Filter, item: Json, look: Look): boolean {
	spend(look.budget, 1);
	switch (filter.type) {
		case 'and':
			return filter.parts.every(part => holds(part, item, look));
		case 'or':
			return filter.parts.some(part => holds(part, item, look));
		case 'not':
			return !holds(filter.part, item, look);
		case 'exists':
			return pathOperand(filter.operand, item, look) !== nothing;
		case 'compare': {
			const left = operandOf(filter.left, item, look);
			const right = operandOf(filter.right, item, look);
			if (filter.operator === '==') return isEqual(left, right, look);
			if (filter.operator === '!=') return !isEqual(left, right, look);
			return isOrdered(filter.operator, left, right);
		}
	}
}

type Found = Json | typeof nothing;

function operandOf(operand: Operand, item: Json, look: Look): Found {
	return operand.type === 'literal' ? operand.value : pathOperand(operand, item, look);
}

/** Of a path that stands for several: their list; nothing where that is empty. */
function pathOperand({from, segments}: FilterPath, item: Json, look: Look): Found {
	const found = select(segments, from === '@' ? item : look.root, look);
	if (found.length === 0) return nothing;
	return isDefinite(segments) ? (found[0] ?? nothing) : found;
}

function isEqual(left: Found, right: Found, look: Look): boolean {
	if (left === nothing || right === nothing) return left === right;
	if (typeof left === 'object' && typeof right === 'object') spend(look.budget, sizeOf(left, look.budget.left));
	return deepEqual(left, right);
}

function isOrdered(operator: '<' | '<=' | '>' | '>=', left: Found, right: Found): boolean {
	const comparable = (typeof left === 'number' && typeof right === 'number') || (typeof left === 'string' && typeof right === 'string');
	if (!comparable) return false;
	if (operator === '<') return left < right;
	if (operator === '<=') return left <= right;
	return operator === '>' ? left > right : left >= right;
}

/** How many values there are in one; no more than `most` are counted. */
export function sizeOf(value: Json, most: number): number {
	const open: Json[] = [value];
	let count = 0;
	for (let next = open.pop(); next !== undefined && count <= most; next = open.pop()) {
		count++;
		for (const child of childrenOf(next)) open.push(child);
	}
	return count;
}
