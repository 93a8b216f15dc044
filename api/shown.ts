// Values as messages show them: short, in JSON, so that a text and a number look different.

const longest = 60;

/** `"many"`, `3`, `a list`, `an object`, `nothing`. */
export function shown(value: unknown): string {
	if (value === undefined || value === null) return 'nothing';
	if (Array.isArray(value)) return 'a list';
	if (typeof value === 'object') return 'an object';
	if (typeof value === 'string') return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
	return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `a ${typeof value}`;
}

/** The type alone, for values that may be secret. */
export function shownType(value: unknown): string {
	return typeof value === 'object' || value === undefined ? shown(value) : `a ${typeof value}`;
}
