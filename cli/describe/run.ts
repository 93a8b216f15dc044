// `describe run`: where it is, what it was given and has come to, the path that it has taken, and what has gone wrong. Pure.

import {counted} from '../../api/counted.js';
import {ageOf} from '../../api/duration.js';
import {historyIn, type Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {RunState} from '../../actors/control/workflows/run-states.js';
import type {RunNews} from '../../actors/workflows/run.js';
import type {RunParts} from '../runs/parts.js';
import {dataText, pathText, secondsText, short} from '../runs/path-lines.js';
import {isHistoryMissing} from '../runs/read.js';
import {inOneLine, type WidthOf} from '../screen/table.js';
import {drawConditions, drawFields, drawSection, metadataFields, whenText, type Field} from './lines.js';

/** Everything but the events. Of the path at most so many lines, the last ones. */
export function describeRun(
	object: Run,
	parts: RunParts,
	nowMs: number,
	widthOf: WidthOf,
	pathLines: number = limits.runPathLines,
): string {
	return (
		drawFields([...metadataFields(object, nowMs), ...runFields(object, parts, nowMs)]) +
		drawStates(object, parts, nowMs, widthOf) +
		drawPath(object, parts, pathLines) +
		drawErrors(parts, nowMs, widthOf) +
		drawConditions(object.status?.conditions, widthOf)
	);
}

/** The same as it changes: what does not is left out, and the path has what room there is. */
export function liveRun(object: Run, parts: RunParts, nowMs: number, widthOf: WidthOf, rows: number): readonly string[] {
	const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1);
	const above = linesOf(
		drawFields([['Name', object.metadata.name], ...runFields(object, parts, nowMs)]) + drawStates(object, parts, nowMs, widthOf),
	);
	return [...above, ...linesOf(drawPath(object, parts, Math.max(leastPathLines, rows - above.length - roomAround)))];
}

const leastPathLines = 3;
/** The title of the path, the line that tells of what is before it, and the line of the cursor. */
const roomAround = 3;

/** How many there are, and whether all of them are in its history. */
function stepsText(run: Run, {records}: RunParts): string {
	const {steps = 0} = run.status ?? {};
	if (isHistoryMissing(run, records.length)) return `${steps} (their history is not at this server)`;
	const {records: inHistory} = historyIn(run);
	return inHistory < steps ? `${steps} (${inHistory} in its history)` : String(steps);
}

function runFields(run: Run, parts: RunParts, nowMs: number): readonly Field[] {
	const {revision} = parts;
	const {spec, status = {}} = run;
	const {phase, revisionName, startTime, completionTime, output, error} = status;
	const of = revisionName === undefined ? '' : ` (${revisionName})`;
	return [
		['Workflow', spec?.workflow],
		['Revision', revision === undefined && revisionName === undefined ? '<none>' : `${revision ?? 'gone'}${of}`],
		['Phase', phase ?? 'Pending'],
		['Suspend', spec?.suspend === true ? 'true' : undefined],
		['Cancel', spec?.cancel === true ? 'true' : undefined],
		['Started', startTime === undefined ? '<not yet>' : whenText(startTime, nowMs)],
		['Ended', completionTime === undefined ? undefined : whenText(completionTime, nowMs)],
		[
			'Took',
			startTime === undefined || completionTime === undefined ? undefined : ageOf(Date.parse(completionTime) - Date.parse(startTime)),
		],
		['Steps', stepsText(run, parts)],
		['Start At', spec?.startAt],
		['Input', dataText(spec?.input ?? {})],
		['Output', output === undefined ? undefined : dataText(output)],
		['Error', error === undefined ? undefined : error.error],
		['Cause', error === undefined || error.cause === '' ? undefined : short(error.cause)],
	];
}

// ---- what is under way -------------------------------------------------------------------------------------------------------

function drawStates(run: Run, {states, more}: RunParts, nowMs: number, widthOf: WidthOf): string {
	if (states.length === 0) return '';
	const shown = states.slice(0, limits.runStatesShown);
	const left = states.length - shown.length + more;
	const rows = shown.map(state => [
		'  '.repeat(state.frame.split('/').length - 1) + inOneLine(state.state) + itemText(state.frame),
		String(state.attempt),
		doesText(run, state),
		`${ageOf(nowMs - state.enteredAtMs)} ago`,
		state.untilMs === undefined ? '' : state.untilMs <= nowMs ? 'now' : `in ${ageOf(state.untilMs - nowMs)}`,
		state.waits === true ? state.key : '',
	]);
	const table = drawSection('Under Way', ['STATE', 'ATTEMPT', 'DOES', 'ENTERED', 'UNTIL', 'KEY'], rows, widthOf);
	return table + (left > 0 ? `  … ${counted(left, 'more state')}\n` : '');
}

function itemText(frame: string): string {
	const index = /\.(\d+)\/$/.exec(frame)?.[1];
	return index === undefined ? '' : ` [${index}]`;
}

function doesText({spec}: Run, {phase, waits, children}: RunState): string {
	switch (phase) {
		case 'entered':
			return spec?.suspend === true ? 'suspended' : 'begins';
		case 'task':
			return waits === true ? 'waits for an answer' : 'its task is called';
		case 'waiting':
			return 'waits';
		case 'retrying':
			return 'waits to try again';
		case 'children':
			return children === undefined
				? 'its branches or items'
				: `${children.ended} of ${children.total} over${children.failed > 0 ? `, ${children.failed} failed` : ''}`;
	}
}

// ---- its path ----------------------------------------------------------------------------------------------------------------

function drawPath({metadata, status}: Run, {records, from}: RunParts, most: number): string {
	const startMs = Date.parse(status?.startTime ?? metadata.creationTimestamp);
	const lines = records.flatMap(({atMs, news}) =>
		news.flatMap(each => {
			const text = pathText(each);
			return text === undefined ? [] : [[secondsText((atMs - startMs) / 1_000), text] as const];
		}),
	);
	if (lines.length === 0) return '';
	const shown = lines.slice(-most);
	const width = Math.max(...shown.map(([at]) => at.length));
	const isCut = from > 0 || shown.length < lines.length;
	return [
		'Path:',
		...(isCut ? [`  … what was before: troupe workflow history run/${metadata.name}`] : []),
		...shown.map(([at, text]) => `  ${at.padStart(width)}  ${text}`),
		'',
	].join('\n');
}

// ---- what has gone wrong -------------------------------------------------------------------------------------------------------

function drawErrors({records}: RunParts, nowMs: number, widthOf: WidthOf): string {
	const rows = records.flatMap(({atMs, news}) =>
		news.flatMap(each => {
			const [error, then] = errorIn(each);
			return error === undefined
				? []
				: [[`${ageOf(nowMs - atMs)} ago`, inOneLine(each.state), inOneLine(error.Error), then, short(inOneLine(error.Cause))]];
		}),
	);
	if (rows.length === 0) return '';
	return drawSection('Last Errors', ['WHEN', 'STATE', 'ERROR', 'THEN', 'CAUSE'], rows.slice(-limits.runErrorsShown), widthOf);
}

function errorIn(news: RunNews): readonly [error: Extract<RunNews, {type: 'failed'}>['error'] | undefined, then: string] {
	switch (news.type) {
		case 'retried':
			return [news.error, 'tried again'];
		case 'caught':
			return [news.error, 'caught'];
		case 'failed':
			return [news.error, 'failed'];
		case 'entered':
		case 'called':
		case 'chosen':
		case 'left':
			return [undefined, ''];
	}
}
