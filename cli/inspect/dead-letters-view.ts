// Messages that reached nobody, as people read them. Pure.

import {counted} from '../../api/counted.js';
import type {DeadLetterLook} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import {ago, placeText, table, type LookView} from './look-table.js';

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
