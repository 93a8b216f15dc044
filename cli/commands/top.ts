// `troupe top pods|nodes|functions`: how much of processors and memory is used now, and how much functions are called. What running actors do is `troupe actor top`.

import {limits} from '../../api/limits.js';
import type {Client} from '../client.js';
import {interruptedExitCode, usageError, type Invocation} from '../command.js';
import {readTargets} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import {printedWhole} from '../objects/output.js';
import {repeated} from '../screen/live-view.js';
import {drawTable} from '../screen/table.js';
import {widthFor, type WidthOf} from '../screen/text-width.js';
import {functionView} from '../top/function-view.js';
import {nodeView, podView} from '../top/usage-view.js';
import {isWide, type View} from '../top/view.js';

type ViewOf = (invocation: Invocation, client: Client, name: string | undefined) => Promise<View>;

export async function run(invocation: Invocation): Promise<number> {
	const [word = ''] = invocation.inputs;
	if (word === '') throw usageError('top of what? pods, nodes or functions');
	const [target, ...others] = readTargets(invocation.inputs);
	const names = target?.names ?? [];
	if (others.length > 0 || names.length > 1) throw usageError('top takes one name, or -l for several');
	const viewOf = viewOfKind(target?.resource.plural, word);
	return withClient(invocation, client => {
		const view = () => viewOf(invocation, client, names[0]);
		return invocation.flags.on('watch') ? watch(invocation, view) : once(invocation, view);
	});
}

function viewOfKind(plural: string | undefined, word: string): ViewOf {
	switch (plural) {
		case 'pods':
			return podView;
		case 'nodes':
			return nodeView;
		case 'functions':
			return functionView;
		default:
			throw usageError(`top is of pods, nodes or functions, not of ${word}`);
	}
}

async function once(invocation: Invocation, viewOf: () => Promise<View>): Promise<number> {
	const view = await viewOf();
	if (!isWide(invocation) && (await printedWhole(invocation, view.whole))) return 0;
	if (view.rows.length === 0) invocation.terminal.note(view.empty);
	else invocation.terminal.out((await drawn(invocation, view)).text);
	return 0;
}

/** In place on a screen, else one table after the other, each as often as nodes measure. */
async function watch({flags, terminal, ...rest}: Invocation, viewOf: () => Promise<View>): Promise<number> {
	const output = flags.text('output');
	if (output !== undefined && output !== 'wide') throw usageError(`-w draws tables; it cannot be used with -o ${output}`);
	const ended = new AbortController();
	process.once('SIGINT', () => ended.abort());
	await repeated({terminal, signal: ended.signal, everyMs: limits.usageSampleMs}, async () => {
		const view = await viewOf();
		if (view.rows.length === 0) return {lines: [view.empty]};
		const {text, widthOf} = await drawn({flags, terminal, ...rest}, view);
		return {lines: text.trimEnd().split('\n'), widthOf};
	});
	return interruptedExitCode;
}

/** The largest first, where it is sorted. */
async function drawn({flags}: Invocation, {heads, rows}: View): Promise<{readonly text: string; readonly widthOf: WidthOf}> {
	const by = flags.text('sort') as 'cpu' | 'memory' | undefined;
	const cells = (by === undefined ? rows : [...rows].sort((a, b) => b[by] - a[by])).map(each => each.cells);
	const widthOf = await widthFor(cells.flat());
	return {text: drawTable(heads, cells, widthOf), widthOf};
}
