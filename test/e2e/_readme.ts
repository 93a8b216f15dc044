// The commands of the README and what it says they print.
//
// A block that begins with ```console holds commands (lines after `$ `) and their output; `console tools` those that need more
// than Node, `console fails` those that end with another exit code than 0. Output is compared by its shape, because names, addresses, process ids, times and counts differ from run to run.
// Values that a reader would copy from one output into a later command are learned on the way.

import {readFileSync} from 'node:fs';
import path from 'node:path';

export type Step = {
	/** As it is typed. */
	readonly command: string;
	readonly shown: readonly string[];
	/** Needs programs that are not part of Node. */
	readonly tools: boolean;
	/** It is shown how it fails. */
	readonly fails: boolean;
	/** Of the command, in the page. */
	readonly line: number;
};

export const root = path.resolve(import.meta.dirname, '../../..');
export const readme = path.join(root, 'README.md');

/** Every command of the README, in order. */
export function stepsOf(text: string): readonly Step[] {
	const steps: {command: string; shown: string[]; tools: boolean; fails: boolean; line: number}[] = [];
	let block: Block = 'none';
	for (const [at, line] of text.split('\n').entries()) {
		if (line.startsWith('```')) block = block === 'none' ? blockOf(line.slice(3).trim()) : 'none';
		else if (block === 'none' || block === 'other') continue;
		else if (line.startsWith('$ '))
			steps.push({command: line.slice(2), shown: [], tools: block === 'tools', fails: block === 'fails', line: at + 1});
		else steps.at(-1)?.shown.push(line);
	}
	return steps;
}

type Block = 'none' | 'console' | 'tools' | 'fails' | 'other';

function blockOf(info: string): Block {
	if (info === 'console') return 'console';
	if (info === 'console tools') return 'tools';
	return info === 'console fails' ? 'fails' : 'other';
}

export const readSteps = (): readonly Step[] => stepsOf(readFileSync(readme, 'utf8'));

// ---- shapes ------------------------------------------------------------------------------------------------------------

/** What differs from run to run, in this order: a time is no number, an address is no four numbers. */
const varying: readonly (readonly [RegExp, string])[] = [
	[/(?:\/[\w.-]+)+\/\.troupe/g, 'HOME'],
	[/\bhello-[a-z0-9]{5}\b/g, 'HELLO'],
	[/\bjoin-[0-9a-f]{8}\b/g, 'JOIN'],
	[/\bPATH "[^"]*"/g, 'PATH'],
	[/\bnet +(?:shared|routed): .*/g, 'NET'],
	[/(?<=\bresting: .*)\bnetwork, /g, ''],
	[/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UID'],
	[/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
	[/\b\d+(?:\.\d+){3}(?::\d+)?\b/g, 'ADDRESS'],
	[/\bv?\d+\.\d+\.\d+\b/g, 'VERSION'],
	[/\b(?:\d+(?:ms|[smhdy]))+\b/g, 'AGE'],
	[/\d+/g, 'N'],
	[/\s+/g, ' '],
];

const shapeOf = (line: string): string => varying.reduce((text, [pattern, word]) => text.replace(pattern, word), line.trim());

/** Only where pods have a network of their own what serves names runs before there is a Service. */
const ofRouted = /─ network +(?:[\d.]+\/s +)?data plane /;

/** Lines with their shapes: without empty ones, and what repeats itself once, since writes that come close together are one. */
function shapes(lines: readonly string[]): readonly {readonly shape: string; readonly line: string}[] {
	const all = lines.map(line => ({line, shape: shapeOf(line)})).filter(({line, shape}) => shape !== '' && !ofRouted.test(line));
	return all.filter(({shape}, at) => shape !== all[at - 1]?.shape || shape.includes('HELLO'));
}

/** In the README: here something is left out. */
const leftOut = '...';

/** What is wrong with an output; undefined when it looks as shown. Teaches `values` what the shown ones are this time. */
export function compare({shown}: Step, printed: string, values: Map<string, string>): string | undefined {
	const wanted = shapes(shown);
	const found = shapes(printed.split('\n'));
	let at = 0;
	for (const [index, {shape, line}] of wanted.entries()) {
		if (shape === leftOut) continue;
		if (wanted[index - 1]?.shape === leftOut) at = Math.max(at, ...indexesOf(found, shape, at).slice(0, 1));
		const present = found[at++];
		if (present?.shape !== shape) return `"${line}" is shown, found ${present === undefined ? 'nothing' : `"${present.line}"`}`;
		const problem = learn(line, present.line, values);
		if (problem !== undefined) return problem;
	}
	const rest = wanted.at(-1)?.shape === leftOut ? undefined : found[at];
	return rest === undefined ? undefined : `"${rest.line}" is printed and not shown`;
}

const indexesOf = (found: readonly {readonly shape: string}[], shape: string, from: number): number[] =>
	found.flatMap((each, at) => (at >= from && each.shape === shape ? [at] : []));

// ---- values ------------------------------------------------------------------------------------------------------------

/** Names of pods, their addresses and process ids. */
const lasting = /\bhello-[a-z0-9]{5}\b|(?<=\bpid )\d+|\b(?:127\.\d+|10\.244)(?:\.\d+){2}\b/g;

/** The port of MQTT: another one with each start on free ports. */
const passing = /(?<=mqtt:\/\/127\.0\.0\.1:)\d+/g;

/** A lasting value that was learned before must be the same again: so it is seen that a pod kept its address and its process. */
function learn(shown: string, printed: string, values: Map<string, string>): string | undefined {
	for (const [value, present] of pairs(passing, shown, printed)) values.set(value, present);
	for (const [value, present] of pairs(lasting, shown, printed)) {
		const known = values.get(value);
		if (known !== undefined && known !== present) return `"${value}" was "${known}" and now is "${present}", in "${printed}"`;
		values.set(value, present);
	}
	return undefined;
}

function pairs(pattern: RegExp, shown: string, printed: string): readonly (readonly [string, string])[] {
	const now = printed.match(pattern) ?? [];
	return (shown.match(pattern) ?? []).map((value, at) => [value, now[at] ?? '']);
}

/** The command with this run's values. */
export const filledIn = (command: string, values: ReadonlyMap<string, string>): string =>
	command.replace(/[\w.-]+/g, word => values.get(word) ?? word);
