// Paths of fields as people read them: `spec.containers[0].ports[1].containerPort`, `metadata.labels["troupe.dev/x"]`.
// One builder, one parser.

import type {Json} from './object.js';

const plainKey = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** The path of a field or an element below another path. */
export function joinPath(base: string, key: string | number): string {
	if (typeof key === 'number') return `${base}[${key}]`;
	if (!plainKey.test(key)) return `${base}[${JSON.stringify(key)}]`;
	return base === '' ? key : `${base}.${key}`;
}

const step = /\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/** The keys and indexes of a path; undefined when the text is none. */
export function parsePath(path: string): (string | number)[] | undefined {
	const keys: (string | number)[] = [];
	let end = 0;
	for (const match of path.matchAll(step)) {
		end = match.index + match[0].length;
		if (match[2] !== undefined) keys.push(Number(match[2]));
		else if (match[3] !== undefined) keys.push(JSON.parse(match[3]) as string);
		else keys.push(match[1] ?? '');
	}
	return end === path.length ? keys : undefined;
}

/** The path a JSON pointer means in this document. */
export function pathOfPointer(pointer: string, document: unknown): string {
	let path = '';
	let here = document;
	for (const part of pointer.split('/').slice(1)) {
		const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
		path = joinPath(path, Array.isArray(here) ? Number(key) : key);
		here = childOf(here, key);
	}
	return path;
}

function childOf(value: unknown, key: string): unknown {
	if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
	return (value as {readonly [key: string]: Json})[key];
}
