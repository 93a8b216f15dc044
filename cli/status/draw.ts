// The screen of `troupe status`. Pure.

import {counted} from '../../api/counted.js';
import {ageOf} from '../../api/duration.js';
import {brokenAt} from '../command-line/help.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {cutLine, type WidthOf} from '../screen/text-width.js';
import type {Coming, NodeStatus, Status} from './status.js';
import {namespaceWord} from './wrong.js';

export type StatusView = {
	/** Of the terminal; undefined: lines are as long as they are. */
	readonly columns: number | undefined;
	readonly widthOf: WidthOf;
	readonly colours: Colours;
};

/** More are counted. */
const shownLines = 20;

/** Of what one thing says more lines are not shown; where fewer columns are left for it, one line is. */
const [saidLines, narrow] = [3, 16];

/** A screen: how things are, line by line, then what is wrong, then where to go on. */
export function drawStatus(status: Status, view: StatusView): string {
	const {colours} = view;
	const {wrong, coming} = status;
	const lines = [
		`cluster  ${wrong.length === 0 ? colours.green('all is well') : colours.red(wrongText(wrong.length))}`,
		`server   ${serverText(status)}`,
		`store    ${storeText(status, colours)}`,
		`nodes    ${nodesText(status.nodes)}`,
		`pods     ${podsText(status)}`,
		`actors   ${actorsText(status)}`,
		...section('What is wrong:', wrong, view),
		...section('On its way:', coming, view),
		...(wrong[0] === undefined ? [] : ['', `next: ${inOneLine(wrong[0].next)}`]),
	];
	return lines.map(line => `${view.columns === undefined ? line : cutLine(line, view.columns - 1, view.widthOf)}\n`).join('');
}

/** All that is shown of others' words, for a measure that is right for them. */
export const textsOf = ({wrong, coming, nodes}: Status): readonly string[] => [
	...[...wrong, ...coming].flatMap(({about, says}) => [about, says]),
	...nodes.map(({name}) => name),
];

const wrongText = (count: number): string => (count === 1 ? 'one thing is wrong' : `${count} things are wrong`);

function serverText({server: {address, version, upMs, term}}: Status): string {
	return [
		address,
		...(version === null ? [] : [`version ${inOneLine(version)}`]),
		...(upMs === null ? [] : [`leads for ${ageOf(upMs)}`]),
		...(term === null ? [] : [`term ${term}`]),
	].join(', ');
}

function storeText({store: {problem, version, waiting}}: Status, colours: Colours): string {
	const at = version === null ? '' : `, at version ${version}`;
	const under = waiting === 0 ? '' : `, ${counted(waiting, 'write')} under way`;
	return `${problem === null ? 'takes writes' : colours.red('takes no writes')}${at}${under}`;
}

function nodesText(nodes: readonly NodeStatus[]): string {
	if (nodes.length === 0) return 'none yet';
	const names = (all: readonly NodeStatus[]): string => listed(all.map(({name}) => name));
	const silent = nodes.filter(({ready}) => !ready);
	const cordoned = nodes.filter(each => each.cordoned);
	return [
		`${nodes.length - silent.length} of ${nodes.length} ready`,
		...(silent.length === 0 ? [] : [`not ready: ${names(silent)}`]),
		...(cordoned.length === 0 ? [] : [`cordoned: ${names(cordoned)}`]),
	].join('; ');
}

function podsText({pods: {total, ready, notReady, phases}}: Status): string {
	if (total === 0) return 'none';
	const told = (isMeant: (phase: string) => boolean): string =>
		Object.entries(phases)
			.filter(([phase]) => isMeant(phase))
			.sort(([, a], [, b]) => b - a)
			.map(([phase, count]) => `${count} ${inOneLine(phase).toLowerCase()}`)
			.join(', ');
	const [alive, finished] = [told(phase => !isOver(phase)), told(isOver)];
	return [`${ready} of ${ready + notReady} ready`, alive, finished === '' ? '' : `finished: ${finished}`]
		.filter(part => part !== '')
		.join('; ');
}

const isOver = (phase: string): boolean => phase === 'Succeeded' || phase === 'Failed';

function actorsText({actors: {systems, wrong, silent}, faults}: Status): string {
	return [
		`${systems - silent.length} of ${counted(systems, 'system')} ${systems === 1 ? 'answers' : 'answer'}${silent.length === 0 ? '' : `, not: ${listed(silent.map(({system}) => system))}`}`,
		...(wrong === 0 ? [] : [`${counted(wrong, 'actor')} in trouble`]),
		...(faults.length === 0 ? [] : [`${counted(faults.length, 'fault')} on`]),
	].join('; ');
}

/** Names of others, the first few. */
function listed(names: readonly string[]): string {
	const shown = names.slice(0, 5).map(inOneLine).join(', ');
	return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

/** The first ones; that there are more is shown. */
function someLines(lines: readonly string[], room: number, widthOf: WidthOf): readonly string[] {
	if (lines.length <= saidLines) return lines;
	return [...lines.slice(0, saidLines - 1), `${cutLine(lines[saidLines - 1] ?? '', room - 2, widthOf)} …`];
}

function section(title: string, all: readonly Coming[], {columns, widthOf}: StatusView): readonly string[] {
	if (all.length === 0) return [];
	const rows = all
		.slice(0, shownLines)
		.map(({about, namespace, says}) => [inOneLine(about + namespaceWord(namespace)), inOneLine(says)] as const);
	const width = Math.min(40, Math.max(...rows.map(([about]) => about.length)));
	return [
		'',
		title,
		...rows.flatMap(([about, says]) => {
			const indent = Math.max(width, about.length) + 4;
			const room = columns === undefined ? Number.POSITIVE_INFINITY : columns - 1 - indent;
			const [first = '', ...rest] = room < narrow ? [says] : someLines(brokenAt(says, room), room, widthOf);
			return [`  ${about.padEnd(width)}  ${first}`, ...rest.map(line => `${' '.repeat(indent)}${line}`)];
		}),
		...(all.length > rows.length ? [`  … ${all.length - rows.length} more`] : []),
	];
}
