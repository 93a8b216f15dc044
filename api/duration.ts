// Lengths of time: ages as kubectl words them, and what people type.

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** `5s`, `3m20s`, `45m`, `2h`, `4d`: two parts only while both matter (apimachinery's HumanDuration). */
export function ageOf(ms: number): string {
	if (ms < second) return '0s';
	if (ms < 2 * minute) return `${Math.floor(ms / second)}s`;
	if (ms < 10 * minute) return parts(ms, minute, 'm', second, 's');
	if (ms < 3 * hour) return `${Math.floor(ms / minute)}m`;
	if (ms < 8 * hour) return parts(ms, hour, 'h', minute, 'm');
	if (ms < 2 * day) return `${Math.floor(ms / hour)}h`;
	if (ms < 8 * day) return parts(ms, day, 'd', hour, 'h');
	if (ms < 2 * year) return `${Math.floor(ms / day)}d`;
	if (ms < 8 * year) return parts(ms, year, 'y', day, 'd');
	return `${Math.floor(ms / year)}y`;
}

function parts(ms: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
	const whole = Math.floor(ms / large);
	const rest = Math.floor((ms % large) / small);
	return rest === 0 ? `${whole}${largeUnit}` : `${whole}${largeUnit}${rest}${smallUnit}`;
}

/** The age of something with this timestamp; `<unknown>` when there is none. */
export function ageSince(timestamp: string | undefined, nowMs: number): string {
	const atMs = timestamp === undefined ? NaN : Date.parse(timestamp);
	return Number.isNaN(atMs) ? '<unknown>' : ageOf(nowMs - atMs);
}

const unitMs: {readonly [unit: string]: number} = {ms: 1, s: second, m: minute, h: hour};

/** `30s`, `2m`, `1h30m`, `500ms`, or a number of seconds; in milliseconds. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
	if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * second;
	const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
	if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
	return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (unitMs[unit] ?? 0), 0);
}
