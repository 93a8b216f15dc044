// A trace as an indented sequence: when, where, the message in brief, what it asked for, and how it ended. Pure.

import type {Shown, TraceEntry, WatchEntry} from '../../api/inspect.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {fitted, type WidthOf} from '../screen/text-width.js';
import {withoutActor, withoutType, withPlaces} from './message-text.js';
import {placeOfAddress} from './places.js';
import {differencesOf, drawDifferences} from './state-diff.js';
import type {PlacedStep} from './trace-order.js';

type TraceView = {
	/** Of the first entry: times are told from there. */
	readonly beginMs: number;
	readonly columns: number | undefined;
	readonly widthOf: WidthOf;
	readonly colours: Colours;
};

/** On a screen this wide there is room to tell the sender of every message. */
const wideColumns = 120;
/** What lies deeper is drawn no further to the right. */
const deepest = 12;
/** Of a message: the rest is in `-o json`. */
const briefCharacters = 200;
/** A step that waited or took so long is worth a word. */
const slowMs = 20;

/** The lines of a step. `above` is where the step on the line before happened. */
export function drawStep({step, depth, parent}: PlacedStep, above: string | undefined, view: TraceView): readonly string[] {
	const {colours} = view;
	const time = timeText(step.atMs - view.beginMs);
	const isNarrow = view.columns !== undefined && view.columns < wideColumns;
	const isToldAbove = isNarrow && parent === step.from && above === step.from;
	const from = isToldAbove ? '' : colours.dim(` ← ${placeText(step.from)}`);
	const branch = depth === 0 ? '' : `${'  '.repeat(Math.min(depth, deepest) - 1)}└ `;
	const head = `${colours.dim(time)}  ${branch}${colours.bold(placeText(step.address))}${from}`;
	const words = `${colours.cyan(inOneLine(step.message.type))}${timesText(step, colours)}${outcomeText(step, colours)}`;
	const inner = ' '.repeat(time.length + 2 + Math.min(depth, deepest) * 2);
	const brief = briefOf(step.message);
	const effects = step.effects.map(effect => `${inner}${colours.dim(`⇒ ${withPlaces(inOneLine(effect))}`)}`);
	const crash = step.error === undefined ? [] : [`${inner}${colours.red(`✗ ${inOneLine(withoutActor(step.error))}`)}`];
	const isTwoLines = isNarrow && view.widthOf(plain(head)) + view.widthOf(plain(words)) + 2 > (view.columns ?? 0) - 1;
	const first = isTwoLines ? [head, `${inner}${words}${brief}`] : [`${head}  ${words}${brief}`];
	return [...first, ...crash, ...effects].map(line => fitted(line, view));
}

/** The lines of a change that was watched: what led to it, and what is another than `before`. */
export function drawChange(entry: WatchEntry, before: Shown | undefined, most: number, view: TraceView): readonly string[] {
	const {colours} = view;
	const time = timeText(entry.atMs - view.beginMs);
	if (before === undefined) return [];
	const why = entry.cause === '' ? '' : colours.dim(`  (${inOneLine(entry.cause)})`);
	const head = `${colours.dim(time)}  ${colours.cyan(inOneLine(entry.message))} ← ${placeText(entry.from)}${why}`;
	const inner = ' '.repeat(time.length + 2);
	return [head, ...drawDifferences(differencesOf(before, entry.state), most, colours).map(line => inner + line)].map(line =>
		fitted(line, view),
	);
}

// eslint-disable-next-line no-control-regex -- ECMA-48's Select Graphic Rendition begins with an escape.
const plain = (text: string): string => text.replace(/\u001b\[[\d;]*m/g, '');

/** `+0.012`: seconds since the first step. */
export const timeText = (ms: number): string => `${ms < 0 ? '-' : '+'}${(Math.abs(ms) / 1_000).toFixed(3)}`.padStart(8);

const placeText = (address: string): string => inOneLine(placeOfAddress(address)) || 'outside';

/** What the message holds, its type aside. */
function briefOf(message: TraceEntry['message']): string {
	const rest = withoutType(message);
	return Object.keys(rest).length === 0 ? '' : ` ${inOneLine(JSON.stringify(rest)).slice(0, briefCharacters)}`;
}

function timesText({waitedMs, tookMs}: TraceEntry, colours: Colours): string {
	const waited = waitedMs >= slowMs ? colours.yellow(`  waited ${Math.round(waitedMs)} ms`) : '';
	const took = tookMs >= slowMs ? colours.red(`  took ${Math.round(tookMs)} ms`) : '';
	return waited + took;
}

/** That it was done is the rule and needs no word. */
function outcomeText({outcome}: TraceEntry, colours: Colours): string {
	switch (outcome) {
		case 'done':
			return '';
		case 'committed':
			return colours.green('  committed');
		case 'notCommitted':
			return colours.yellow('  NOT COMMITTED');
		case 'notUnderstood':
			return colours.red('  NOT UNDERSTOOD');
		case 'crashed':
			return colours.red('  CRASHED');
		case 'deadLetter':
			return colours.red('  REACHED NOBODY');
	}
}
