// Patterns of places: `control/pods/default.*`, in which `*` stands for any part of one name. They come from outside, so that each takes
// time that grows with its length times the name's, and no more.

import {parsePlace, type TraceFilter} from '../../api/inspect.js';
import type {Cell} from '../kernel/cell.js';

/** Whether the name is one of those that the pattern stands for. */
export function matchesName(pattern: string, name: string): boolean {
	let at = 0;
	let nameAt = 0;
	/** The last star, and where in the name what follows it is tried. */
	let star = -1;
	let triedAt = 0;
	while (nameAt < name.length) {
		if (pattern[at] === '*') {
			star = at++;
			triedAt = nameAt;
		} else if (pattern[at] === name[nameAt]) {
			at++;
			nameAt++;
		} else if (star >= 0) {
			at = star + 1;
			nameAt = ++triedAt;
		} else return false;
	}
	while (pattern[at] === '*') at++;
	return at === pattern.length;
}

/** Whether the path is one of those that the pattern stands for, or lies below one. */
function isBelow(pattern: readonly string[], path: readonly string[]): boolean {
	return pattern.length <= path.length && pattern.every((name, at) => matchesName(name, path[at] ?? ''));
}

const namesOf = (path: string): readonly string[] => (path === '' ? [] : path.split('/'));

/** Which actors of a system a filter means, and which paths where there is none. */
export class PlaceFilter {
	readonly #patterns: readonly (readonly string[])[];
	readonly #behaviors: readonly string[];
	readonly #known = new WeakMap<Cell, boolean>();

	constructor(system: string, {places, behaviors = []}: TraceFilter) {
		this.#patterns = places.flatMap(place => {
			const parts = parsePlace(place);
			return parts !== undefined && matchesName(parts.system, system) ? [namesOf(parts.path)] : [];
		});
		this.#behaviors = behaviors;
	}

	hasCell(cell: Cell): boolean {
		const known = this.#known.get(cell);
		if (known !== undefined) return known;
		const {spec, behavior, path} = cell;
		const has = this.#behaviors.some(each => matchesName(each, spec.behavior) || matchesName(each, behavior.kind)) || this.hasPath(path);
		this.#known.set(cell, has);
		return has;
	}

	hasPath(path: string): boolean {
		const names = namesOf(path);
		return this.#patterns.some(pattern => isBelow(pattern, names));
	}
}
