// `tree`, `ls` and `top`: many actors at once.

import {AppError} from '../../../api/errors.js';
import type {ActorLook, ActorTree, LookAnswer, OfSystem, TopBy} from '../../../api/inspect.js';
import {limits} from '../../../api/limits.js';
import {systemClock} from '../../../system/time/clock.js';
import {usageError} from '../../command.js';
import {repeated} from '../../screen/live-view.js';
import {pause} from '../../screen/pause.js';
import {widthFor} from '../../screen/text-width.js';
import {drawList} from '../looks-view.js';
import {root, shownPlace, type Place} from '../places.js';
import {countsOf, noRates, ratesSince, type RateOf} from '../rates.js';
import {resolve} from '../resolve.js';
import {columnsOf, formatOf, show, showEntry, viewOf} from '../printing.js';
import {drawTop} from '../top-view.js';
import {childrenOf, drawSystems, drawTree, flattened, textsOf} from '../tree-view.js';
import type {Shell, VerbCall, VerbRun} from '../verb.js';

type Trees = readonly OfSystem<ActorTree>[];

/** The tree of a place, or of every system. */
async function treesOf(place: Place, depth: number, children: number, {session}: Shell): Promise<Trees> {
	if (place === root) return session.askAll({verb: 'tree', place, depth, children});
	return [{system: place, value: await session.ask({verb: 'tree', place, depth, children})}];
}

const looksOf = (trees: Trees): readonly ActorTree[] => trees.flatMap(one => ('value' in one ? flattened(one.value) : []));

/** How busy they are, by the last look at the same place where that is not long ago; the first time a moment is waited for it. */
async function withRates<Seen>(
	key: string,
	{shell, signal}: VerbCall,
	look: () => Promise<Seen>,
	counted: (seen: Seen) => readonly ActorLook[],
): Promise<{readonly seen: Seen; readonly rateOf: RateOf}> {
	const {counts} = shell.memory;
	let seen = await look();
	let before = counts.get(key);
	if (before === undefined || systemClock.monotonicMs() - before.atMs > limits.inspectRateMs) {
		before = countsOf(counted(seen), systemClock.monotonicMs());
		await pause(limits.inspectRateWaitMs, signal);
		if (signal.aborted) return {seen, rateOf: noRates};
		seen = await look();
	}
	const nowMs = systemClock.monotonicMs();
	counts.delete(key);
	counts.set(key, countsOf(counted(seen), nowMs));
	const [oldest] = counts.keys();
	if (counts.size > limits.inspectPlacesCounted && oldest !== undefined) counts.delete(oldest);
	return {seen, rateOf: ratesSince(before, nowMs)};
}

export const tree: VerbRun = async call => {
	const {inputs, flags, shell} = call;
	const [word, ...more] = inputs;
	if (more.length > 0) throw usageError('tree draws what is below one place');
	const depth = flags.number('depth') ?? limits.inspectDepth;
	if (depth < 0) throw usageError(`--depth must be a number from 0 on, got ${depth}`);
	const all = flags.on('all');
	const {place} = await resolve(word, shell);
	const look = () => treesOf(place, Math.min(depth, limits.inspectDepth), all ? limits.inspectAllChildren : limits.inspectChildren, shell);
	const draw = async (): Promise<{trees: Trees; text: string; widthOf: Awaited<ReturnType<typeof widthFor>>}> => {
		const {seen: trees, rateOf} = await withRates(`tree ${place}`, call, look, looksOf);
		const widthOf = await widthFor(textsOf(trees));
		const view = {depth, all, columns: columnsOf(shell), widthOf, colours: shell.terminal.colours, rateOf};
		const [only] = trees;
		const text = place !== root && only !== undefined && 'value' in only ? drawTree(only.value, place, view) : drawSystems(trees, view);
		return {trees, text, widthOf};
	};
	const format = formatOf(call);
	if (!flags.on('watch')) {
		if (format !== undefined) return show(call, documentOf(await look()), () => '');
		const {trees, text} = await draw();
		await shell.page(text);
		return throwUnreachable(trees);
	}
	if (format === undefined)
		return repeated({terminal: call.shell.terminal, signal: call.signal}, async () =>
			draw().then(({text, widthOf}) => ({lines: text.trimEnd().split('\n'), widthOf})),
		);
	while (!call.signal.aborted) {
		await showEntry(call, format, documentOf(await look()));
		await pause(limits.inspectEachMs, call.signal);
	}
};

/** As `troupe tree -o json` has it. */
const documentOf = (trees: Trees): unknown => ({
	systems: trees.map(one => ('value' in one ? {system: one.system, tree: one.value} : one)),
});

/** A tree that could not be had is drawn, and told by the exit code. */
function throwUnreachable(trees: Trees): void {
	const silent = trees.flatMap(one => ('problem' in one ? [one.system] : []));
	if (silent.length > 0) throw new AppError('ERR_NOT_REACHABLE', {message: `${silent.join(', ')} did not answer`});
}

export const ls: VerbRun = async call => {
	const {place} = await resolve(call.inputs[0], call.shell);
	const look = () => treesOf(place, place === root ? 0 : 1, limits.inspectNames, call.shell);
	if (formatOf(call) !== undefined) {
		const trees = await look();
		return show(call, place === root ? trees : childLooks(trees, noRates), () => '');
	}
	const {seen: trees, rateOf} = await withRates(`ls ${place}`, call, look, looksOf);
	const looks = place === root ? trees.flatMap(one => ('value' in one ? [one.value] : [])) : childLooks(trees, rateOf);
	const [first] = trees;
	const left = place !== root && first !== undefined && 'value' in first ? first.value.childCount - first.value.children.length : 0;
	const view = await viewOf(
		call,
		looks.flatMap(({name, about, failure}) => [name, about, failure ?? '']),
	);
	// The root of a system has no name of its own.
	const named = place === root ? trees.flatMap(one => ('value' in one ? [{...one.value, name: one.system}] : [])) : looks;
	const problems = trees.flatMap(one => ('problem' in one ? [`${one.system}: ${one.problem}\n`] : []));
	await call.shell.page(drawList(named, left, rateOf, view) + problems.join(''));
};

const childLooks = (trees: Trees, rateOf: RateOf): readonly ActorTree[] =>
	trees.flatMap(one => ('value' in one ? childrenOf(one.value, rateOf) : []));

export const top: VerbRun = async call => {
	const {inputs, flags, shell} = call;
	const {place} = await resolve(inputs[0], shell);
	const by = (flags.text('by') ?? 'rate') as TopBy;
	const limit = flags.number('limit') ?? limits.topActors;
	if (!Number.isInteger(limit) || limit < 1 || limit > limits.topMostActors)
		throw usageError(`--limit must be a whole number from 1 to ${limits.topMostActors}`);
	if (formatOf(call) !== undefined) return show(call, await topOf(place, by, limit, shell), () => '');
	const draw = async () => {
		const {actors, counted, problems} = await topOf(place, by, limit, shell);
		const rateOf = ratesOfLast(`top ${place}`, actors, shell);
		const view = await viewOf(call, ['│']);
		const head = `${counted} actors below ${shownPlace(place)}, by ${byText[by]}`;
		const lines =
			actors.length === 0 ? [by === 'rate' ? 'none took a message meanwhile' : 'none has any'] : drawTop(actors, by, rateOf, view);
		return {
			lines: [shell.terminal.colours.bold(head), ...problems.map(problem => shell.terminal.colours.red(problem)), ...lines],
			widthOf: view.widthOf,
		};
	};
	if (shell.terminal.screen !== undefined && !flags.on('once')) return repeated({terminal: shell.terminal, signal: call.signal}, draw);
	await shell.page(`${(await draw()).lines.join('\n')}\n`);
};

type Top = LookAnswer['top']['actors'][number];

/** What this look and the last one at the same place tell together. */
function ratesOfLast(key: string, actors: readonly ActorLook[], {memory: {counts}}: Shell): RateOf {
	const before = counts.get(key);
	const nowMs = systemClock.monotonicMs();
	counts.set(key, countsOf(actors, nowMs));
	return before === undefined || nowMs - before.atMs > limits.inspectRateMs ? noRates : ratesSince(before, nowMs);
}

type Ranking = {readonly actors: readonly Top[]; readonly counted: number; readonly problems: readonly string[]};

async function topOf(place: Place, by: TopBy, limit: number, {session}: Shell): Promise<Ranking> {
	if (place !== root) return {...(await session.ask({verb: 'top', place, by, limit})), problems: []};
	const systems = await session.askAll({verb: 'top', place, by, limit});
	return {
		actors: systems
			.flatMap(one => ('value' in one ? one.value.actors : []))
			.toSorted((a, b) => b.value - a.value)
			.slice(0, limit),
		counted: systems.reduce((sum, one) => sum + ('value' in one ? one.value.counted : 0), 0),
		problems: systems.flatMap(one => ('problem' in one ? [`${one.system}: ${one.problem}`] : [])),
	};
}

const byText: {readonly [By in TopBy]: string} = {
	mailbox: 'messages that wait',
	rate: 'messages in a second',
	time: 'time in steps',
	restarts: 'restarts',
	memory: 'memory of the state',
};
