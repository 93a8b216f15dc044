// What `workflow test` shows of its cases: the path with its times, the ending, and what no case has gone through.

import {limits} from '../../api/limits.js';
import {counted} from '../../api/counted.js';
import {errorText, pathText, secondsText, short} from '../runs/path-lines.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import type {Coverage, Part} from './coverage.js';
import type {PathEntry, Tried} from './try-case.js';

export type Report = {readonly file: string; readonly cases: readonly Tried[]; readonly coverage: Coverage};

export function drawReport({file, cases, coverage}: Report, colours: Colours): string {
	if (cases.length === 0) return `${file} is right: ${counted(coverage.states.total, 'state')}\n`;
	const failed = cases.filter(({ok}) => !ok).length;
	const sum = `${counted(cases.length, 'case')}, ${failed === 0 ? 'all as expected' : `${failed} not as expected`}`;
	return `${cases.map(each => drawCase(each, colours)).join('\n')}\n${sum}\n${drawCoverage(coverage)}`;
}

function drawCase({name, ok, problems, ending, seconds, path, more: beyond}: Tried, colours: Colours): string {
	const head = `${ok ? colours.green('ok') : colours.red('FAILED')} ${inOneLine(name)}: ${endingText(ending)} after ${secondsText(seconds)}`;
	const lines = path.map(lineOf).filter(line => line !== undefined);
	const more = Math.max(0, lines.length - limits.workflowTestLines) + beyond;
	const width = secondsText(seconds).length;
	const drawn = lines.slice(0, limits.workflowTestLines).map(([at, text]) => `  ${at.padStart(width)}  ${text}`);
	return [
		head,
		...problems.map(problem => `  ${colours.red(inOneLine(problem))}`),
		...drawn,
		...(more > 0 ? [`  … ${more} more; -o json has ${limits.workflowTestEntries}`] : []),
		...(ending.status === 'succeeded' ? [`  output: ${short(JSON.stringify(ending.output))}`] : []),
		'',
	].join('\n');
}

function endingText(ending: Tried['ending']): string {
	if (ending.status === 'failed') return `failed with ${errorText({Error: ending.error, Cause: ending.cause})}`;
	return ending.status;
}

function lineOf(entry: PathEntry): readonly [at: string, text: string] | undefined {
	const text = pathText(entry);
	return text === undefined ? undefined : [secondsText(entry.seconds), text];
}

function drawCoverage({states, choices, catchers}: Coverage): string {
	const parts = [
		[states, 'state'],
		[choices, 'choice'],
		[catchers, 'catcher'],
	] as const;
	const sum = parts.filter(([{total}]) => total > 0).map(([{total, gone}, noun]) => `${gone} of ${counted(total, noun)}`);
	const missing = parts.flatMap(([part, noun]) => missingText(part, noun));
	return `gone through: ${sum.join(', ')}\n${missing.join('')}`;
}

const missingText = ({missing}: Part, noun: string): readonly string[] =>
	missing.length === 0
		? []
		: [
				`no case goes through ${counted(missing.length, noun)}: ${inOneLine(missing.slice(0, limits.problemsShown).join(', '))}${missing.length > limits.problemsShown ? ', …' : ''}\n`,
			];
