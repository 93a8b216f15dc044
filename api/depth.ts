// How deep a document nests. Pure.

import type {Json} from './object.js';

/** Whether it nests deeper than so many levels: those who walk it later have not the stack for that. */
export function isDeeper(value: Json | undefined, levels: number): boolean {
	if (typeof value !== 'object' || value === null) return false;
	return levels === 0 || Object.values(value).some(member => isDeeper(member, levels - 1));
}
