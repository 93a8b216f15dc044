// Kubernetes' strategic merge patch, as far as it says the same as a merge patch (RFC 7386): objects are merged, null takes a member away.
// What it means otherwise are lists, which it merges by key, and its directives, whose names begin with `$`.

import {isObject, type Json, type JsonObject} from './object.js';
import {joinPath} from './path.js';

/** Lists that Kubernetes replaces as a whole. */
const wholeLists: ReadonlySet<string> = new Set(['Node spec.taints']);

/** The path of the first part that a merge patch would take for something else; undefined: there is none. */
export function strategicPart(kind: string, patch: JsonObject): string | undefined {
	const search = (value: Json | undefined, path: string): string | undefined => {
		if (Array.isArray(value)) return wholeLists.has(`${kind} ${path}`) ? undefined : path;
		if (!isObject(value)) return undefined;
		for (const [key, member] of Object.entries(value)) {
			const at = joinPath(path, key);
			const found = key.startsWith('$') ? at : search(member, at);
			if (found !== undefined) return found;
		}
		return undefined;
	};
	return search(patch, '');
}
