// `top functions`: how much functions are called.

import {AppError} from '../../api/errors.js';
import {functionFiguresPath, type ColdPhases, type FunctionFigures, type FunctionsAnswer} from '../../api/function-figures.js';
import type {Client} from '../client.js';
import {usageError, type Invocation} from '../command.js';
import {namespaceOf} from '../cluster/session.js';
import {barsOf, isWide, pastSteps, showsPast, type View} from './view.js';

export async function functionView(invocation: Invocation, client: Client, name: string | undefined): Promise<View> {
	const {flags} = invocation;
	if (flags.on('containers') || flags.text('sort') !== undefined || flags.text('selector') !== undefined)
		throw usageError('top functions takes a name or -A, and none of --containers, --sort and -l');
	const everywhere = flags.on('all-namespaces');
	if (name !== undefined && everywhere) throw usageError('a name and -A each say which functions; give one of them');
	const namespace = everywhere ? undefined : namespaceOf(invocation, client);
	const answer = (await client.json({path: functionFiguresPath, query: {namespace}})) as FunctionsAnswer;
	const functions = answer.functions.filter(each => name === undefined || each.name === name);
	if (name !== undefined && functions.length === 0) throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
	const [wide, past] = [isWide(invocation), showsPast(invocation)];
	const cellsOf = (each: FunctionFigures): readonly string[] => [
		...(everywhere ? [each.namespace] : []),
		...figureCells(each),
		...(wide ? phaseCells(each) : []),
		...(past ? [barsOf(invocation, callsInSteps(each))] : []),
	];
	return {
		whole: {...answer, functions},
		empty: namespace === undefined ? 'No functions' : `No functions in ${namespace} namespace.`,
		heads: [...(everywhere ? ['NAMESPACE'] : []), ...figureHeads, ...(wide ? phaseHeads : []), ...(past ? ['CALLS(15m)'] : [])],
		rows: functions.map(each => ({cells: cellsOf(each), cpu: 0, memory: 0})),
	};
}

/** In as many steps as there is room for; none of one that was not called. */
function callsInSteps({recent = []}: FunctionFigures): readonly number[] {
	const each = Math.max(1, Math.ceil(recent.length / pastSteps));
	return Array.from({length: Math.ceil(recent.length / each)}, (_, step) =>
		recent.slice(step * each, (step + 1) * each).reduce((sum, calls) => sum + calls, 0),
	);
}

const figureHeads = ['NAME', 'CALLS', 'HELD', 'INSTANCES', 'ANSWERED', 'FAILED', 'COLD-STARTS', 'COLD-MEAN'];

const figureCells = ({
	name,
	calls,
	held,
	ready,
	desired,
	answered,
	failed,
	coldStarts,
	coldStartMs,
}: FunctionFigures): readonly string[] => [
	name,
	...[calls, held].map(String),
	`${ready}/${desired}`,
	...[answered, failed, coldStarts].map(String),
	coldStarts === 0 ? '<none>' : timeText(coldStartMs / coldStarts),
];

const phaseHeads = ['PLACE', 'START', 'READY', 'SLOT'];

const phasesInOrder: readonly (keyof ColdPhases)[] = ['placeMs', 'startMs', 'readyMs', 'slotMs'];

/** The mean of each. What they come to is rounded, so that they add up to the mean of all. */
function phaseCells({coldStarts, coldPhases}: FunctionFigures): readonly string[] {
	if (coldStarts === 0) return phasesInOrder.map(() => '<none>');
	let sumMs = 0;
	return phasesInOrder.map(phase => {
		const beforeMs = Math.round(sumMs / coldStarts);
		sumMs += coldPhases[phase];
		return timeText(Math.round(sumMs / coldStarts) - beforeMs);
	});
}

/** `412ms`, `1.4s`. */
const timeText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)}ms` : `${(ms / 1_000).toFixed(1)}s`);
