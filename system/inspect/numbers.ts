// Numbers that a request may name.

/** What is no number, or missing, is the usual one; beyond the bounds it is the bound. */
export function numberIn(value: number | undefined, usual: number, least: number, most: number): number {
	return typeof value === 'number' && Number.isFinite(value) ? Math.min(most, Math.max(least, Math.round(value))) : usual;
}
