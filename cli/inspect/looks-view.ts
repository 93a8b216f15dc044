// Mailboxes, links, supervision, journals, dead letters, figures and rankings as people read them. Pure.

import {createColors} from 'picocolors';
import {counted} from '../../api/counted.js';
import {ageOf} from '../../api/duration.js';
import type {
	ActorLook,
	DeadLetterLook,
	JournalLook,
	LinksLook,
	LookAnswer,
	MailboxLook,
	MessageLook,
	OfSystem,
	SuperviseLook,
	SystemStats,
	TopBy,
} from '../../api/inspect.js';
import {drawRow, inOneLine, widthsOf} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {fitted, type WidthOf} from '../screen/text-width.js';
import {placeOfAddress, shownPlace, type Place} from './places.js';
import type {Rate, RateOf} from './rates.js';
import {withoutActor, withoutType} from './message-text.js';
import {placeOf, rateText, stateWord} from './tree-view.js';

export type LookView = {
	readonly columns: number | undefined;
	readonly widthOf: WidthOf;
	readonly colours: Colours;
	readonly nowMs: number;
};

const placeText = (address: string): string => inOneLine(placeOfAddress(address)) || '-';

type Paint = (cell: string, column: number) => string;

/** Cut to the screen; colours are given after the widths were taken. */
function table(head: readonly string[], rows: readonly (readonly string[])[], view: LookView, paint?: Paint): string {
	const widths = widthsOf([head, ...rows], view.widthOf);
	const line = (row: readonly string[], painted?: Paint) => `${fitted(drawRow(row, widths, view.widthOf, painted).trimEnd(), view)}\n`;
	return line(head) + rows.map(row => line(row, paint)).join('');
}

const ago = (ms: number, {nowMs}: LookView): string => `${ageOf(Math.max(0, nowMs - ms))} ago`;

export function drawMailbox({waiting, signals, messages}: MailboxLook, view: LookView): string {
	if (waiting === 0 && signals.length === 0) return 'the mailbox is empty\n';
	const head = signals.length === 0 ? '' : `signals, which come first: ${signals.map(inOneLine).join(', ')}\n`;
	const rows = messages.map(message => [message.message.type, placeText(message.from), inOneLine(message.cause), briefOf(message)]);
	const more = waiting - messages.length;
	return (
		head +
		(rows.length === 0 ? '' : `next first:\n${table(['TYPE', 'FROM', 'BECAUSE OF', 'MESSAGE'], rows, view)}`) +
		(more > 0 ? `… ${counted(more, 'more message')}\n` : '')
	);
}

const briefOf = ({message}: MessageLook): string => inOneLine(JSON.stringify(withoutType(message)));

export function drawLinks(links: LinksLook, view: LookView): string {
	const {parent, childCount, watchers, watching, asks, timers, pending} = links;
	const lines = [
		['supervisor', parent === undefined ? '- (it is the root)' : placeText(parent)],
		['children', String(childCount)],
		...(watchers.length === 0 ? [['watched by', '-']] : watchers.map((one, at) => [at === 0 ? 'watched by' : '', placeText(one)])),
		...(watching.length === 0 ? [['watches', '-']] : watching.map((one, at) => [at === 0 ? 'watches' : '', placeText(one)])),
		...listed('waits for', asks, ({as, id, to, cause}) => `${as} ${id} of ${placeText(to)}${cause === '' ? '' : ` (${cause})`}`),
		...listed('timers', timers, ({name, inMs}) => `${name} in ${durationText(inMs)}`),
		...listed('writes', pending, ({type, what}) => `${type} ${what}`),
	];
	return lines.map(([name = '', value = '']) => `${fitted(`${name.padEnd(12)}${inOneLine(value)}`, view)}\n`).join('');
}

function listed<One>(name: string, all: readonly One[], textOf: (one: One) => string): readonly (readonly string[])[] {
	return all.length === 0 ? [[name, '-']] : all.map((one, at) => [at === 0 ? name : '', textOf(one)]);
}

/** Fractions of a second count where something is due. */
const durationText = (ms: number): string => (ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : ageOf(ms));

export function drawSupervise(look: SuperviseLook, view: LookView): string {
	const {restart, strategy, pastIntensity, intensity, periodMs, left, restarts, lastCrash, parked, supervisor, shutdown} = look;
	const {red, yellow} = view.colours;
	const lines: readonly (readonly [string, string])[] = [
		['supervisor', supervisor === undefined ? '- (it is the root)' : placeText(supervisor)],
		['restart', `${restart}: ${restartText[restart]}`],
		['strategy', `${strategy}: when a child of its fails, ${strategyText[strategy]}`],
		['intensity', `${counted(intensity, 'restart')} within ${ageOf(periodMs)}, ${left === 0 ? red('none left') : `${left} left`}`],
		['past that', `${pastIntensity}: ${pastText[pastIntensity]}`],
		['restarts', restarts > 0 ? yellow(String(restarts)) : '0'],
		['last crash', lastCrash === undefined ? '-' : red(`${ageOf(lastCrash.agoMs)} ago: ${inOneLine(withoutActor(lastCrash.message))}`)],
		...(parked === undefined
			? []
			: [['PARKED', red(`${counted(parked.retries, 'try', 'tries')}: ${inOneLine(withoutActor(parked.error))}`)] as const]),
		['shutdown', typeof shutdown === 'number' ? `within ${shutdown} ms, then it is killed` : shutdown],
	];
	return lines.map(([name, value]) => `${fitted(`${name.padEnd(12)}${value}`, view)}\n`).join('');
}

const restartText: {readonly [How in SuperviseLook['restart']]: string} = {
	permanent: 'it is always started again',
	transient: 'it is started again after a crash',
	temporary: 'it is never started again',
};
const strategyText: {readonly [How in SuperviseLook['strategy']]: string} = {
	oneForOne: 'that one is started again',
	oneForAll: 'all are started again',
	restForOne: 'it and those started after it are started again',
};
const pastText: {readonly [How in SuperviseLook['pastIntensity']]: string} = {
	escalate: 'its supervisor fails with it',
	backOff: 'it rests for longer and longer',
	park: 'it rests in part, and is tried again',
};

export function drawJournal(entries: readonly JournalLook[], view: LookView): string {
	if (entries.length === 0) return 'no commit is remembered: it keeps no object, or has written nothing since its system began\n';
	const rows = entries.map(({version, atMs, type, from, cause}) => [
		String(version),
		ago(atMs, view),
		inOneLine(type),
		placeText(from),
		inOneLine(cause),
	]);
	return table(['VERSION', 'WHEN', 'MESSAGE', 'FROM', 'BECAUSE OF'], rows, view);
}

export function drawDeadLetters(letters: readonly DeadLetterLook[], total: number, view: LookView): string {
	if (total === 0) return 'every message has reached somebody\n';
	const rows = letters.map(({atMs, why, type, from, to, cause}) => [
		ago(atMs, view),
		whyText[why],
		inOneLine(type),
		placeText(from),
		placeText(to),
		inOneLine(cause),
	]);
	const more = total - letters.length;
	return (
		(more > 0 ? `… ${counted(more, 'older one')}, not kept\n` : '') +
		table(['WHEN', 'WHY', 'TYPE', 'FROM', 'TO', 'BECAUSE OF'], rows, view, (cell, at) => (at === 1 ? view.colours.red(cell) : cell))
	);
}

const whyText: {readonly [Why in DeadLetterLook['why']]: string} = {
	noActor: 'no actor there',
	stopped: 'it had stopped',
	busy: 'mailbox full',
	crashed: 'it crashed on it',
	notUnderstood: 'it knows no such message',
	dropped: 'dropped by a fault',
};

export function drawStats(systems: readonly OfSystem<SystemStats>[], view: LookView): string {
	const fine = systems.flatMap(one => ('value' in one ? [one.value] : []));
	const names = [...new Set(fine.flatMap(({counters}) => Object.keys(counters)))];
	const rows: readonly (readonly string[])[] = [
		['actors', ...fine.map(({actors}) => String(actors))],
		['up', ...fine.map(({upMs}) => ageOf(upMs))],
		['memory of its process', ...fine.map(({memoryBytes}) => `${(memoryBytes / 1_048_576).toFixed(1)} MiB`)],
		['processor time of its process', ...fine.map(({cpuMs}) => durationText(cpuMs))],
		...names.map(name => [inOneLine(name), ...fine.map(({counters}) => String(counters[name] ?? '-'))]),
	];
	const problems = systems.flatMap(one => ('problem' in one ? [`${inOneLine(one.system)}: ${inOneLine(one.problem)}\n`] : []));
	return (fine.length === 0 ? '' : table(['', ...fine.map(({system}) => inOneLine(system))], rows, view)) + problems.join('');
}

/** Head and a line for each actor. `rateOf` tells what two looks told; what it is ranked by is told by each look itself, and stands in front. */
export function drawTop(looks: LookAnswer['top']['actors'], by: TopBy, rateOf: RateOf, view: LookView): readonly string[] {
	const names = [headOf[by], ...figures.filter(name => name !== headOf[by])];
	const rows = looks.map(look => {
		const rate = rateOf(look);
		const figureOf = figuresOf(look, by, rate);
		const [first = '-', ...others] = names.map(name => figureOf[name] ?? '-');
		return [inOneLine(shownPlace(placeOf(look))), first, stateWord(look, plainColours), ...others, inOneLine(look.behavior)];
	});
	const head = ['ACTOR', headOf[by], 'STATE', ...names.slice(1), 'BEHAVIOUR'];
	const {red, yellow, magenta, bold} = view.colours;
	const [stateAt, counts] = [head.indexOf('STATE'), [head.indexOf('WAITING'), head.indexOf('RESTARTS')]];
	const paint: Paint = (cell, at) => {
		if (at === stateAt && cell !== 'running') return /PARKED|restarting/.test(cell) ? red(cell) : magenta(cell);
		if (counts.includes(at) && cell.trim() !== '0') return yellow(cell);
		return at === 1 ? bold(cell) : cell;
	};
	const [aligned = [], ...others] = rightAligned([head, ...rows], at => at > 0 && at !== stateAt && at < head.length - 1);
	return table(aligned, others, view, paint).trimEnd().split('\n');
}

const headOf: {readonly [By in TopBy]: string} = {mailbox: 'WAITING', rate: 'MSG/S', time: 'MS', restarts: 'RESTARTS', memory: 'MEMORY'};

/** Of every ranking, in this order; memory is told where it was measured. */
const figures: readonly string[] = ['WAITING', 'MSG/S', 'BUSY', 'MS', 'MS/STEP', 'RESTARTS'];

function figuresOf(
	look: LookAnswer['top']['actors'][number],
	by: TopBy,
	rate: Rate | undefined,
): {readonly [head: string]: string | undefined} {
	const perSecond = by === 'rate' ? look.value : rate?.perSecond;
	return {
		MEMORY: `${(look.value / 1_024).toFixed(1)} KiB`,
		WAITING: String(look.waiting),
		'MSG/S': perSecond === undefined ? undefined : rateText(perSecond),
		BUSY: rate === undefined ? undefined : `${(rate.share * 100).toFixed(1)} %`,
		MS: look.stepMs.toFixed(1),
		'MS/STEP': look.handled === 0 ? undefined : (look.stepMs / look.handled).toFixed(2),
		RESTARTS: String(look.restarts),
	};
}

/** Cells of such columns end below each other, as figures are compared. They are ASCII. */
function rightAligned(rows: readonly (readonly string[])[], isRight: (at: number) => boolean): readonly (readonly string[])[] {
	const widths = widthsOf(rows, text => text.length);
	return rows.map(row => row.map((cell, at) => (isRight(at) ? cell.padStart(widths[at] ?? 0) : cell)));
}

/** Of cells that are coloured when their widths are known. */
const plainColours: Colours = createColors(false);

/** `ls`: the children of a place. */
export function drawList(looks: readonly ActorLook[], left: number, rateOf: RateOf, view: LookView): string {
	if (looks.length === 0) return 'nothing is below it\n';
	const rows = looks.map(look => [
		inOneLine(look.name) + (look.childCount > 0 ? '/' : ''),
		stateWord(look, plainColours),
		look.childCount > 0 ? counted(look.childCount, 'child', 'children') : '',
		look.waiting > 0 ? `${look.waiting} waiting` : '',
		(rateOf(look)?.perSecond ?? 0) > 0 ? `${rateText(rateOf(look)?.perSecond ?? 0)}/s` : '',
		inOneLine(look.trouble ?? (look.failure === undefined ? look.about : withoutActor(look.failure))),
	]);
	const {red, bold} = view.colours;
	const text = table(['NAME', 'STATE', 'CHILDREN', 'MAILBOX', 'MSG/S', 'ABOUT'], rows, view, (cell, at) => {
		if (at === 0) return bold(cell);
		return at === 1 && cell !== 'running' ? red(cell) : cell;
	});
	return text + (left > 0 ? `… ${left} more\n` : '');
}

/** For `-o` and messages. */
export const placeShown = (place: Place): string => inOneLine(shownPlace(place));
