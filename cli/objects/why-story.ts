// Why an object is as it is, as a page: the answer first, then what comes next, the chain that leads to it, what was told of it, and on request each
// commit with what set it going. Pure.

import {ageOf} from '../../api/duration.js';
import type {ActorLook} from '../../api/inspect.js';
import type {ApiObject} from '../../api/object.js';
import type {JournalEntry, ObjectEvent} from '../../server/control-plane.js';
import type {Link, NextAction} from '../../server/why/finding.js';
import {drawTable, inOneLine, type WidthOf} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';

/** What `GET /troupe/v1/why/…` answers. */
export type Why = {
	readonly answer: string;
	readonly state: 'fine' | 'waits' | 'wrong' | 'over' | 'gone';
	readonly next: NextAction | null;
	readonly chain: readonly Link[];
	/** The time of the control plane, by which all others are. */
	readonly nowMs: number;
	/** Null: the object is gone, its story is still known. */
	readonly object: Pick<ApiObject, 'kind' | 'metadata'> | null;
	readonly actor: ActorLook | null;
	readonly journal: readonly JournalEntry[];
	readonly journalSinceMs?: number;
	readonly events: readonly ObjectEvent[];
};

export type Shown = {
	/** The commits, those alike folded. */
	readonly commits: boolean;
	/** Every commit and every event that is known. */
	readonly all: boolean;
};

/** `title` is KIND/NAME. */
export function tellWhy(title: string, why: Why, shown: Shown, widthOf: WidthOf, colours: Colours): string {
	const sections = [
		answerText(why, colours),
		chainText(why, widthOf, colours),
		section('What was told of it:', eventRows(why.events, why.nowMs, shown.all), widthOf),
		shown.commits || shown.all ? actorText(why.actor) : '',
		shown.commits || shown.all ? section('What led here, oldest first:', journalRows(why, shown.all), widthOf) + beginning(why) : '',
		`${colours.dim(standing(title, why, shown))}\n`,
	];
	return sections.filter(text => text !== '').join('\n');
}

function answerText({answer, state, next, nowMs}: Why, colours: Colours): string {
	const paint = {fine: colours.green, over: colours.green, waits: colours.yellow, wrong: colours.red, gone: colours.yellow}[state];
	const then = next === null ? '' : `Next: ${inOneLine(next.says)}${next.atMs === undefined ? '' : whenText(next.atMs - nowMs)}.\n`;
	return `${paint(inOneLine(answer))}\n${then}`;
}

const whenText = (ms: number): string => (ms <= 0 ? ' now' : ms < 120_000 ? ` in ${Math.ceil(ms / 1_000)} s` : ` in ${ageOf(ms)}`);

/** One link says nothing that the answer does not. */
function chainText({chain, nowMs}: Why, widthOf: WidthOf, colours: Colours): string {
	if (chain.length < 2 && chain.every(({lines}) => lines === undefined)) return '';
	const width = Math.max(0, ...chain.map(({about}) => widthOf(inOneLine(about))));
	const lines = chain.flatMap(({about, says, atMs, lines: words = []}) => {
		const name = inOneLine(about);
		const when = atMs === undefined || atMs > nowMs ? '' : ` (${agoText(atMs, nowMs)})`;
		const line = `${name}${' '.repeat(Math.max(0, width - widthOf(name)))}   ${inOneLine(says)}${when}`;
		return [line, ...words.map(each => colours.dim(`${' '.repeat(width)}   | ${inOneLine(each)}`))];
	});
	return `What leads to it:\n${lines.map(line => `  ${line.trimEnd()}\n`).join('')}`;
}

function actorText(actor: Why['actor']): string {
	if (actor === null) return '';
	const {address, state, about, restarts, waiting, failure} = actor;
	const told = [
		state,
		about,
		restarts > 0 ? `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}` : '',
		waiting > 0 ? `${waiting} messages waiting` : '',
	];
	const crash = failure === undefined ? '' : `  last crash: ${inOneLine(failure)}\n`;
	return `Its actor ${address}\n  ${told.filter(part => part !== '').join(', ')}\n${crash}`;
}

const section = (title: string, rows: readonly (readonly string[])[], widthOf: WidthOf): string =>
	rows.length === 0 ? '' : `${title}\n` + drawTable(rows[0] ?? [], rows.slice(1), widthOf).replace(/^(?=.)/gm, '  ');

/** Commits in a row with one message, sender and cause are one line, unless all are asked for. */
function journalRows({journal, nowMs}: Why, isWhole: boolean): readonly (readonly string[])[] {
	if (journal.length === 0) return [];
	const groups: JournalEntry[][] = [];
	for (const entry of journal) {
		const group = groups.at(-1);
		const last = group?.[0];
		const isAlike = !isWhole && last?.type === entry.type && last.from === entry.from && last.cause === entry.cause;
		if (isAlike) group?.push(entry);
		else groups.push([entry]);
	}
	const rows = groups.map(group => {
		const [first, last] = [group[0], group.at(-1)];
		if (first === undefined || last === undefined) return [];
		const [versions, times] = group.length === 1 ? ['', ''] : [`-${last.version}`, ` (x${group.length})`];
		const {type, from, cause} = first;
		return [`${first.version}${versions}`, agoText(last.atMs, nowMs) + times, inOneLine(type), inOneLine(from), inOneLine(cause)];
	});
	return [['VERSION', 'WHEN', 'MESSAGE', 'FROM', 'BECAUSE OF'], ...rows];
}

/** What was made before the journal began has a story that is not known any more. */
function beginning({object, journal, journalSinceMs, nowMs}: Why): string {
	if (object === null || journalSinceMs === undefined) return '';
	// The time in an object has whole seconds.
	if (Date.parse(object.metadata.creationTimestamp) + 1_000 > journalSinceMs) return '';
	const what = journal.length === 0 ? 'What led here is not known' : 'What led here before that is not known';
	return `${what}: the journal is in memory and began anew when the control plane started, ${agoText(journalSinceMs, nowMs)}.\n`;
}

/** So many of the newest events where not all are asked for. */
const shownEvents = 4;

function eventRows(events: readonly ObjectEvent[], nowMs: number, isWhole: boolean): readonly (readonly string[])[] {
	if (events.length === 0) return [];
	const rows = events.map(({type, reason, message, count, lastAtMs}) => [
		agoText(lastAtMs, nowMs) + (count > 1 ? ` (x${count})` : ''),
		type,
		inOneLine(reason),
		inOneLine(message),
	]);
	const head = ['WHEN', 'TYPE', 'REASON', 'MESSAGE'];
	const left = rows.length - shownEvents;
	return isWhole || left <= 1 ? [head, ...rows] : [head, ['…', '', `${left} more`, '--all shows them'], ...rows.slice(-shownEvents)];
}

/** Which version this is about, and what more can be asked. */
function standing(title: string, {object, journal, nowMs}: Why, {commits, all}: Shown): string {
	const known =
		object === null
			? `${title} is gone; its story is kept for an hour`
			: `${title} is at version ${object.metadata.resourceVersion}, made ${agoText(Date.parse(object.metadata.creationTimestamp), nowMs)}`;
	return commits || all || journal.length === 0
		? known
		: `${known}; --commits shows what set ${journal.length === 1 ? 'its commit' : `each of its ${journal.length} commits`} going`;
}

const agoText = (atMs: number, nowMs: number): string => `${ageOf(nowMs - atMs)} ago`;
