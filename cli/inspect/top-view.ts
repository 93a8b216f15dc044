// A ranking of actors, as people read it. Pure.

import type {LookAnswer, TopBy} from '../../api/inspect.js';
import {inOneLine, widthsOf} from '../screen/table.js';
import {plainColours, table, type LookView, type Paint} from './look-table.js';
import {shownPlace} from './places.js';
import type {Rate, RateOf} from './rates.js';
import {placeOf, rateText, stateWord} from './tree-view.js';

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
