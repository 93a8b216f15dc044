// What has happened in a run, as lines: of a path the states and what became of them, of a history all of it. Pure.

import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import type {StateError} from '../../api/states-language/errors.js';
import type {RunEnding, RunNews} from '../../actors/workflows/run.js';
import {inOneLine} from '../screen/table.js';

/** What of a run's news has which time. */
export type TimedNews = RunNews & {readonly atMs: number};

export const choiceName = (state: string, rule: number | 'Default'): string =>
	rule === 'Default' ? `${state}.Default` : `${state}.Choices[${rule}]`;

export const catchName = (state: string, catcher: number): string => `${state}.Catch[${catcher}]`;

/** One line of the path, without its time; undefined: nothing to see. Branches and items stand further to the right. */
export function pathText(news: RunNews): string | undefined {
	const text = textOf(news);
	return text === undefined ? undefined : indented(news.frame, text);
}

/** The same of a history, where everything is seen. */
export function historyText(news: RunNews): string {
	const place = `${news.state}${itemText(news.frame)}`;
	switch (news.type) {
		case 'entered':
			return indented(news.frame, `${place} with ${dataText(news.input)}`);
		case 'called':
			return indented(news.frame, `${place}: attempt ${news.attempt}`);
		case 'left':
			return indented(news.frame, `${place} left${news.output === undefined ? '' : ` with ${dataText(news.output)}`}`);
		case 'chosen':
		case 'retried':
		case 'caught':
		case 'failed':
			return indented(news.frame, textOf(news) ?? '');
	}
}

/** How a run has ended. */
export function endingText(ending: RunEnding): string {
	switch (ending.status) {
		case 'succeeded':
			return `succeeded with ${dataText(ending.output)}`;
		case 'failed':
			return `failed with ${errorText(ending.error)}`;
		case 'cancelled':
			return `cancelled: ${ending.cause}`;
	}
}

export const errorText = ({Error: name, Cause}: StateError): string =>
	short(inOneLine(`${name === '' ? 'no name' : name}${Cause === '' ? '' : ` (${Cause})`}`));

/** Data as JSON, the beginning of it. */
export const dataText = (data: Json): string => short(inOneLine(JSON.stringify(data)));

export const short = (text: string): string =>
	text.length > limits.warningCharacters ? `${text.slice(0, limits.warningCharacters)}…` : text;

export const secondsText = (seconds: number): string => `${Math.round(seconds * 1_000) / 1_000} s`;

const indented = (frame: string, text: string): string => '  '.repeat(frame.split('/').length - 1) + inOneLine(text);

function textOf(news: RunNews): string | undefined {
	switch (news.type) {
		case 'entered':
			return `${news.state}${itemText(news.frame)}`;
		case 'called':
			return news.attempt > 1 ? `${news.state}${itemText(news.frame)}: attempt ${news.attempt}` : undefined;
		case 'chosen':
			return `-> ${choiceName(news.state, news.rule)}`;
		case 'retried':
			return `! ${errorText(news.error)}; tried again after ${secondsText(news.delayMs / 1_000)} by ${news.state}.Retry[${news.retrier}]`;
		case 'caught':
			return `! ${errorText(news.error)}; caught by ${catchName(news.state, news.catcher)}`;
		case 'failed':
			return `! ${errorText(news.error)}`;
		case 'left':
			return undefined;
	}
}

/** Which branch or item a state is of. */
function itemText(frame: string): string {
	const index = /\.(\d+)\/$/.exec(frame)?.[1];
	return index === undefined ? '' : ` [${index}]`;
}
