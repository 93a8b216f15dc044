// Mailboxes, links, journals, figures and the children of a place, as people read them. Pure.

import {counted} from '../../api/counted.js';
import {ageOf} from '../../api/duration.js';
import type {ActorLook, JournalLook, LinksLook, MailboxLook, MessageLook, OfSystem, SystemStats} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import {fitted} from '../screen/text-width.js';
import {ago, durationText, placeText, plainColours, table, type LookView} from './look-table.js';
import {withoutActor, withoutType} from './message-text.js';
import type {RateOf} from './rates.js';
import {rateText, stateWord} from './tree-view.js';

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
