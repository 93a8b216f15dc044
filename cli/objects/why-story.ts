// Why an object is as it is, as a story: where it stands, what holds it up, what led there, step by step, and what happened on the way. Pure.

import {ageOf, ageSince} from '../../api/duration.js';
import {storageExceeded} from '../../api/local-storage.js';
import type {ApiObject, Condition} from '../../api/object.js';
import type {ActorTree} from '../../api/inspect.js';
import type {JournalEntry, ObjectEvent} from '../../server/control-plane.js';
import {drawTable, inOneLine, type WidthOf} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';

export type Why = {
	/** Null: the object is gone, its story is still known. */
	readonly object?: Pick<ApiObject, 'kind' | 'metadata' | 'status'> | null;
	readonly actor?: Omit<ActorTree, 'children'> | null;
	readonly journal: readonly JournalEntry[];
	readonly journalSinceMs?: number;
	readonly events: readonly ObjectEvent[];
};

/** `title` is KIND/NAME; `isWhole`: all that is known, else what fits on a screen. */
export function tellWhy(title: string, why: Why, isWhole: boolean, nowMs: number, widthOf: WidthOf, colours: Colours): string {
	const sections = [
		`${colours.bold(title)}  ${standing(why, nowMs, colours)}\n`,
		blockers(why, nowMs, colours),
		actorLines(why.actor ?? undefined, colours),
		section('What led here, oldest first:', journalRows(why.journal, nowMs, isWhole), widthOf) + beginning(why, nowMs),
		section('What happened:', eventRows(why.events, nowMs, isWhole), widthOf),
	];
	return sections.filter(text => text !== '').join('\n');
}

function standing({object}: Why, nowMs: number, colours: Colours): string {
	if (object === undefined || object === null) return colours.yellow('is gone; its story is kept for an hour');
	const {phase} = (object.status ?? {}) as {readonly phase?: string};
	const parts = [
		phase ?? '',
		object.metadata.deletionTimestamp === undefined ? '' : colours.yellow('is being deleted'),
		`version ${object.metadata.resourceVersion}`,
		`made ${ageSince(object.metadata.creationTimestamp, nowMs)} ago`,
	];
	return parts.filter(part => part !== '').join(', ');
}

/** So much of each is shown where not all is asked for: with the rest 30 lines at most. */
const shown = {conditions: 3, warnings: 2, firstSteps: 2, lastSteps: 3, events: 4} as const;

/** What is wrong now, and what was told of it last; nothing where nothing is. */
function blockers({object, events}: Why, nowMs: number, colours: Colours): string {
	const {conditions = []} = (object?.status ?? {}) as {readonly conditions?: readonly Condition[]};
	const wrong = conditions.filter(isWrong).sort((a, b) => weightOf(b) - weightOf(a));
	if (wrong.length === 0) return '';
	const warnings = events.filter(({type}) => type === 'Warning').slice(-shown.warnings);
	const lines = [
		...wrong.slice(0, shown.conditions).map(condition => colours.red(conditionText(condition))),
		...warnings
			.reverse()
			.map(({reason, message, lastAtMs}) => colours.yellow(inOneLine(`${reason}, ${agoText(lastAtMs, nowMs)}: ${message}`))),
	];
	return `What holds it up:\n${lines.map(line => `  ${line}\n`).join('')}`;
}

/** These are bad when true, the usual conditions when false. */
const badWhenTrue: ReadonlySet<string> = new Set([
	'ActorFailed',
	'DisruptionTarget',
	'Failed',
	'FailureTarget',
	'ReplicaFailure',
	'Suspended',
	storageExceeded,
]);
const isWrong = ({type, status, reason}: Condition): boolean =>
	status === (badWhenTrue.has(type) ? 'True' : 'False') && reason !== 'PodCompleted';

/** What says most comes first: a failure before what follows from it, one that tells its cause before one that does not. */
const weightOf = ({type, message = ''}: Condition): number => (badWhenTrue.has(type) ? 2 : 0) + (message === '' ? 0 : 1);

const conditionText = ({type, status, reason, message}: Condition): string =>
	inOneLine(
		`${type} is ${status}${reason === undefined ? '' : ` (${reason})`}${message === undefined || message === '' ? '' : `: ${message}`}`,
	);

function actorLines(actor: Why['actor'], colours: Colours): string {
	if (actor === undefined || actor === null) return '';
	const {address, state, about, restarts, waiting, failure} = actor;
	const told = [
		state === 'parked' ? colours.red('PARKED: it crashed too often and rests until its next try') : state,
		about,
		restarts > 0 ? `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}` : '',
		waiting > 0 ? `${waiting} messages waiting` : '',
	];
	const crash = failure === undefined || failure === null ? '' : `  ${colours.red(`last crash: ${inOneLine(failure)}`)}\n`;
	return `Its actor ${address}\n  ${told.filter(part => part !== '').join(', ')}\n${crash}`;
}

const section = (title: string, rows: readonly (readonly string[])[], widthOf: WidthOf): string =>
	rows.length === 0 ? '' : `${title}\n` + drawTable(rows[0] ?? [], rows.slice(1), widthOf).replace(/^(?=.)/gm, '  ');

function journalRows(journal: readonly JournalEntry[], nowMs: number, isWhole: boolean): readonly (readonly string[])[] {
	if (journal.length === 0) return [];
	const rows = journal.map(({version, atMs, type, from, cause}) => [
		String(version),
		agoText(atMs, nowMs),
		inOneLine(type),
		inOneLine(from),
		inOneLine(cause),
	]);
	const head = ['VERSION', 'WHEN', 'MESSAGE', 'FROM', 'BECAUSE OF'];
	const left = rows.length - shown.firstSteps - shown.lastSteps;
	if (isWhole || left <= 1) return [head, ...rows];
	return [head, ...rows.slice(0, shown.firstSteps), ['…', '', `${left} more`, '', showsAll], ...rows.slice(-shown.lastSteps)];
}

/** What was made before the journal began has a story that is not known any more. */
function beginning({object, journal, journalSinceMs}: Why, nowMs: number): string {
	if (object === undefined || object === null || journalSinceMs === undefined) return '';
	// The time in an object has whole seconds.
	if (Date.parse(object.metadata.creationTimestamp) + 1_000 > journalSinceMs) return '';
	const what = journal.length === 0 ? 'What led here is not known' : 'What led here before that is not known';
	return `${what}: the journal is in memory and began anew when the control plane started, ${agoText(journalSinceMs, nowMs)}.\n`;
}

const showsAll = '--all shows them';

function eventRows(events: readonly ObjectEvent[], nowMs: number, isWhole: boolean): readonly (readonly string[])[] {
	if (events.length === 0) return [];
	const rows = events.map(({type, reason, message, count, lastAtMs}) => [
		agoText(lastAtMs, nowMs) + (count > 1 ? ` (x${count})` : ''),
		type,
		inOneLine(reason),
		inOneLine(message),
	]);
	const head = ['WHEN', 'TYPE', 'REASON', 'MESSAGE'];
	const left = rows.length - shown.events;
	return isWhole || left <= 1 ? [head, ...rows] : [head, ['…', '', `${left} more`, showsAll], ...rows.slice(-shown.events)];
}

const agoText = (atMs: number, nowMs: number): string => `${ageOf(nowMs - atMs)} ago`;
