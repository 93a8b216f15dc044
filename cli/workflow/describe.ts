// `troupe workflow describe`: a run, or a workflow; with -w the run as it goes on, up to its end.

import {findKind} from '../../api/catalogue.js';
import {historyIn, run as runKind, type Run} from '../../api/kinds/run.js';
import {workflow as workflowKind} from '../../api/kinds/workflow.js';
import {limits} from '../../api/limits.js';
import {systemClock} from '../../system/time/clock.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import type {Client} from '../client.js';
import {getOne, withKind} from '../cluster/lists.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {type Invocation, usageError} from '../command.js';
import {describe} from '../describe/page.js';
import {liveRun} from '../describe/run.js';
import {drawObject} from '../runs/drawing.js';
import {followRun} from '../runs/follow.js';
import {runNamed, workflowNamed} from '../runs/named.js';
import {partsOfRun, type RunParts} from '../runs/parts.js';
import {endingText, pathText, secondsText} from '../runs/path-lines.js';
import {historyOf, type RunPlace} from '../runs/read.js';
import type {Region} from '../screen/region.js';
import type {Terminal} from '../screen/terminal.js';
import {widthFor} from '../screen/text-width.js';
import {formOf} from './forms.js';

export async function describeOne(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags, terminal} = invocation;
	const [word, ...more] = words;
	if (word === undefined || more.length > 0) throw usageError('describe takes one run, as in: troupe workflow describe run/order-7 -w');
	const isWorkflow = findKind(word.split('/')[0] ?? '')?.kind === workflowKind.kind && word.includes('/');
	const [resource, name] = isWorkflow ? [workflowKind, workflowNamed(word)] : [runKind, runNamed(word)];
	const form = formOf(flags, ['dot', 'svg']);
	if (flags.on('watch') && (isWorkflow || form !== undefined))
		throw usageError('-w follows a run, as in: troupe workflow describe run/order-7 -w');
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		if (flags.on('watch')) {
			const {screen} = terminal;
			await (screen === undefined
				? followInLines(client, {namespace, name}, terminal)
				: followOn(client, {namespace, name}, terminal, screen));
			return 0;
		}
		const object = withKind(await getOne(client, resource, namespace, name), resource);
		terminal.out(form === undefined ? await describe(client, {resource, object}) : await drawObject(client, object, form));
		return 0;
	});
}

// ---- -w ------------------------------------------------------------------------------------------------------------------------

/** Drawn in place, whenever it has changed; what is told of its times goes on by itself. The last state stays on the screen. */
async function followOn(client: Client, place: RunPlace, terminal: Terminal, screen: Region): Promise<void> {
	let seen: {readonly run: Run; readonly parts: RunParts} | undefined;
	let lost: string | undefined;
	let cancel = (): void => undefined;
	const draw = async (): Promise<void> => {
		cancel();
		cancel = systemClock.after(tickMs, () => void draw());
		if (seen === undefined) return;
		const {run, parts} = seen;
		const widthOf = await widthFor([JSON.stringify(run), ...parts.states.map(({state}) => state)]);
		const note = lost === undefined ? [] : [terminal.colours.yellow(`… ${lost}; trying again`)];
		screen.draw([...liveRun(run, parts, systemClock.nowMs(), widthOf, screen.rows() - note.length), ...note], widthOf);
	};
	const forget = screen.onResize(() => void draw());
	const keep = (): void => screen.keep();
	process.once('exit', keep);
	try {
		const onLost = (why: string | undefined): void => {
			const isNews = why !== lost;
			lost = why;
			if (isNews) void draw();
		};
		for await (const run of followRun(client, place, {onLost})) {
			seen = {run, parts: await partsOfRun(client, run)};
			await draw();
		}
	} finally {
		cancel();
		forget();
		process.off('exit', keep);
		keep();
	}
}

const tickMs = 1_000;

/** Where nothing is drawn in place: what happens, line by line. */
async function followInLines(client: Client, place: RunPlace, terminal: Terminal): Promise<void> {
	let next = 0;
	for await (const run of followRun(client, place)) {
		// Of one that has gone on for long only the last part.
		next = Math.max(next, historyIn(run).records - limits.runRecordsRead);
		const startMs = Date.parse(run.status?.startTime ?? run.metadata.creationTimestamp);
		for await (const records of historyOf(client, place, next)) {
			terminal.out(records.flatMap(record => linesOf(record, startMs)).join(''));
			next = (records.at(-1)?.number ?? next - 1) + 1;
		}
	}
}

function linesOf({atMs, news, ending}: HistoryRecord, startMs: number): readonly string[] {
	const at = secondsText((atMs - startMs) / 1_000);
	const texts = [...news.map(pathText), ending === undefined ? undefined : endingText(ending)];
	return texts.flatMap(text => (text === undefined ? [] : [`${at}  ${text}\n`]));
}
