// Schedules of CronJobs: which are read, and when they are due. The times come from croner, which computes them and is given nothing to run.

import {Cron} from 'croner';
import {limits} from './limits.js';
import {shown} from './shown.js';

export type CronSchedule = {
	/** The first time after this one; undefined where there is none any more. */
	readonly nextMs: (afterMs: number) => number | undefined;
};

export type ReadSchedule = {readonly ok: true; readonly value: CronSchedule} | {readonly ok: false; readonly message: string};

type FieldRange = {readonly name: string; readonly first: number; readonly last: number; readonly words?: readonly string[]};

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fields: readonly FieldRange[] = [
	{name: 'minute', first: 0, last: 59},
	{name: 'hour', first: 0, last: 23},
	{name: 'day of the month', first: 1, last: 31},
	{name: 'month', first: 1, last: 12, words: months},
	{name: 'day of the week', first: 0, last: 6, words: days},
];

const nicknames: Readonly<Record<string, string>> = {
	'@yearly': '0 0 1 1 *',
	'@annually': '0 0 1 1 *',
	'@monthly': '0 0 1 * *',
	'@weekly': '0 0 * * 0',
	'@daily': '0 0 * * *',
	'@midnight': '0 0 * * *',
	'@hourly': '0 * * * *',
};

const utc = 'UTC';

/** Reads what Kubernetes reads; without a time zone, in UTC whatever the host's is. */
export function readSchedule(text: string, timeZone: string = utc): ReadSchedule {
	if (text.length > limits.scheduleCharacters) return no(`must have at most ${limits.scheduleCharacters} characters, got ${text.length}`);
	if (/^\s*(CRON_)?TZ=/.test(text)) return no('must not say TZ or CRON_TZ; use timeZone');
	const pattern = patternOf(text.trim());
	if (!pattern.ok) return pattern;
	if (!isTimeZone(timeZone)) return no('cannot be read without its time zone');
	const cron = new Cron(pattern.value, {mode: '5-part', timezone: timeZone, legacyMode: true});
	return {ok: true, value: {nextMs: afterMs => cron.nextRun(new Date(afterMs))?.getTime()}};
}

const no = (message: string): {readonly ok: false; readonly message: string} => ({ok: false, message});

/** A name of the IANA data base that this Node knows. */
export function isTimeZone(name: string): boolean {
	if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name) || name.toLowerCase() === 'local') return false;
	try {
		new Intl.DateTimeFormat('en', {timeZone: name});
		return true;
	} catch (error) {
		if (error instanceof RangeError) return false;
		throw error;
	}
}

function patternOf(text: string): {readonly ok: true; readonly value: string} | {readonly ok: false; readonly message: string} {
	if (text.startsWith('@')) {
		const value = nicknames[text];
		return value === undefined
			? no(`must be five fields or one of ${Object.keys(nicknames).join(', ')}, got ${shown(text)}`)
			: {ok: true, value};
	}
	const parts = text.split(/\s+/);
	if (parts.length !== fields.length || text === '')
		return no(`must have five fields (minute, hour, day of the month, month, day of the week), got ${shown(text)}`);
	const read: string[] = [];
	for (const [at, range] of fields.entries()) {
		const items = (parts[at] ?? '').split(',').map(item => itemOf(item, range));
		if (items.includes(undefined)) return no(`the ${range.name} must be ${rangeWords(range)}, got ${shown(parts[at] ?? '')}`);
		read.push(items.join(','));
	}
	return {ok: true, value: read.join(' ')};
}

const rangeWords = ({first, last, words}: FieldRange): string =>
	`"*", numbers from ${first} to ${last}${words === undefined ? '' : ` or ${words[0]} to ${words.at(-1)}`}, ranges, or steps such as "*/5"`;

/** `*`, `5`, `1-5`, each with a step if one likes; from a single number a step goes to the end. */
function itemOf(item: string, range: FieldRange): string | undefined {
	const [, base = '', from, to, step] = /^(\*|\?|([A-Za-z0-9]{1,3})(?:-([A-Za-z0-9]{1,3}))?)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
	if (base === '' || step === '0' || (step !== undefined && Number(step) === 0)) return undefined;
	const stepText = step === undefined ? '' : `/${Number(step)}`;
	if (from === undefined) return `*${stepText}`;
	const first = numberOf(from, range);
	const last = to === undefined ? (step === undefined ? first : range.last) : numberOf(to, range);
	if (first === undefined || last === undefined || first > last) return undefined;
	return first === last && step === undefined ? String(first) : `${first}-${last}${stepText}`;
}

function numberOf(text: string, {first, last, words}: FieldRange): number | undefined {
	const word = words?.indexOf(text.toLowerCase()) ?? -1;
	if (word >= 0) return word + first;
	const value = /^\d{1,2}$/.test(text) ? Number(text) : undefined;
	return value !== undefined && value >= first && value <= last ? value : undefined;
}

const minuteMs = 60_000;

export type Due = {
	/** The newest time that is due. */
	readonly atMs: number;
	/** Further ones since then were missed; `many`: more than `limits.missedTimes`, which are not counted. */
	readonly missed: number | 'many';
};

/** What of the schedule is due: times after `sinceMs`, up to now. */
export function dueOf({nextMs}: CronSchedule, sinceMs: number, nowMs: number): Due | undefined {
	let atMs = nextMs(sinceMs);
	if (atMs === undefined || atMs > nowMs) return undefined;
	for (let missed = 0; missed <= limits.missedTimes; missed++) {
		const afterMs = nextMs(atMs);
		if (afterMs === undefined || afterMs > nowMs) return {atMs, missed};
		atMs = afterMs;
	}
	return {atMs: newest(nextMs, atMs, nowMs), missed: 'many'};
}

/** The newest time from one that is due on; halves the rest instead of walking thousands of times. */
function newest(nextMs: CronSchedule['nextMs'], fromMs: number, nowMs: number): number {
	let atMs = fromMs;
	let low = fromMs;
	let high = nowMs;
	while (high - low > minuteMs) {
		const middle = low + Math.floor((high - low) / 2);
		const found = nextMs(middle);
		if (found === undefined || found > nowMs) high = middle;
		else {
			atMs = found;
			low = Math.max(middle, found);
		}
	}
	const last = nextMs(low);
	return last !== undefined && last <= nowMs ? last : atMs;
}
