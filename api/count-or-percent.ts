// Counts that are numbers, or parts in percent of a total.

/** How many that is, a part being rounded as the word says; nothing given is none. After GetScaledValueFromIntOrPercent of Kubernetes. */
export function countOf(value: number | string | undefined, total: number, round: 'up' | 'down'): number {
	if (typeof value !== 'string') return value ?? 0;
	const part = (Number.parseInt(value, 10) * total) / 100;
	return round === 'up' ? Math.ceil(part) : Math.floor(part);
}
