// Times of the States Language: RFC 3339 with a capital T between date and time, and a capital Z where there is no offset.

const timestamp = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Milliseconds since 1970; undefined for what is no such time: the 30th of February, too. */
export function timestampMs(text: unknown): number | undefined {
	const match = typeof text === 'string' ? timestamp.exec(text) : null;
	if (match === null) return undefined;
	const [, year, month, day] = match;
	const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
	const ms = Number(day) > days ? Number.NaN : Date.parse(match[0]);
	return Number.isNaN(ms) ? undefined : ms;
}

/** A time as the context object has it. */
export const timeText = (ms: number): string => new Date(ms).toISOString();
