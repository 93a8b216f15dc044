// The actors of a cluster as people look at them: what is wrong comes first, then what is busy; what rests takes no more than a line. Pure.

import {counted} from '../../api/counted.js';
import type {ActorLook, ActorTree, OfSystem} from '../../api/inspect.js';
import {ageOf} from '../../api/duration.js';
import {limits} from '../../api/limits.js';
import {inOneLine} from '../screen/table.js';
import type {Colours} from '../screen/terminal.js';
import {fitted, type WidthOf} from '../screen/text-width.js';
import {inspectorPath} from '../../actors/addresses.js';
import {parseAddress} from '../../api/keys.js';
import {withoutActor} from './message-text.js';
import {placeOfAddress} from './places.js';
import type {RateOf} from './rates.js';

export type TreeView = {
	/** Levels below what is drawn. */
	readonly depth: number;
	/** Every actor on a line of its own. */
	readonly all: boolean;
	/** Of the terminal; undefined: lines are as long as they are. */
	readonly columns: number | undefined;
	readonly widthOf: WidthOf;
	readonly colours: Colours;
	readonly rateOf: RateOf;
};

/** Every system, its root first. */
export const drawSystems = (systems: readonly OfSystem<ActorTree>[], view: TreeView): string =>
	systems.map(system => drawSystem(system, view)).join('\n');

function drawSystem(one: OfSystem<ActorTree>, view: TreeView): string {
	const {bold, red, magenta} = view.colours;
	if ('problem' in one) {
		// Of a partition the problem says no more.
		const faults = (one.faults ?? []).map(({text}) => magenta(`fault: ${inOneLine(text)}`));
		return lineOf(`${bold(inOneLine(one.system))}  ${faults.length > 0 ? faults.join('  ') : red(inOneLine(one.problem))}`, view);
	}
	return drawTree(one.value, one.system, view);
}

/** One actor and what is below it. */
export function drawTree(tree: ActorTree, title: string, view: TreeView): string {
	const ranked = rank(tree, view);
	const folded = view.depth <= 0 ? `  ${view.colours.dim(countBelow(tree))}`.trimEnd() : '';
	const head = `${view.colours.bold(inOneLine(title))}${aboutOf(tree, view)}${folded}`;
	return lineOf(head, view) + linesBelow(ranked, '', view, view.depth).join('');
}

/** The texts of a tree, for a measure that is right for them. */
export function textsOf(systems: readonly OfSystem<ActorTree>[]): readonly string[] {
	const below = (tree: ActorTree): readonly string[] => [
		tree.name,
		tree.about,
		tree.trouble ?? '',
		tree.failure ?? '',
		...tree.children.flatMap(below),
	];
	return ['│', ...systems.flatMap(one => ('problem' in one ? [one.problem] : below(one.value)))];
}

// ---- what comes first --------------------------------------------------------------------------------------------------------

const resting = 0;
const busy = 1;
const wrong = 2;

type Ranked = {
	readonly tree: ActorTree;
	/** Of itself and of all below it, the highest. */
	readonly weight: number;
	readonly children: readonly Ranked[];
};

function rank(tree: ActorTree, view: TreeView): Ranked {
	const children = tree.children.map(child => rank(child, view)).sort(byWeight);
	return {tree, children, weight: Math.max(weightOf(tree, view.rateOf), ...children.map(({weight}) => weight))};
}

/** Names are in their order, which is that of the tables of get, so that what did not change stays where it is. */
const byWeight = (a: Ranked, b: Ranked): number => b.weight - a.weight || compareNames(a.tree.name, b.tree.name);

/** Of names that differ by their ordinal it counts as a number. */
function compareNames(a: string, b: string): number {
	const [, ofA = a, ordinalA = ''] = ordinalName.exec(a) ?? [];
	const [, ofB = b, ordinalB = ''] = ordinalName.exec(b) ?? [];
	return ofA === ofB ? Number(ordinalA) - Number(ordinalB) : a < b ? -1 : 1;
}

const ordinalName = /^(.*-)(\d{1,9})$/;

/** Wrong as `wrongBelow` counts it: parked, about to be restarted, paused, under a fault, in trouble as it says itself, or crashed not long ago. */
export function isWrong({state, trouble, failure, failedAgoMs = 0, faults = []}: ActorLook): boolean {
	if (state === 'parked' || state === 'restarting' || state === 'paused' || trouble !== undefined || faults.length > 0) return true;
	return failure !== undefined && failure !== null && failedAgoMs < limits.actorWellMs;
}

function weightOf(look: ActorLook, rateOf: RateOf): number {
	if (isWrong(look) || (look.wrongBelow ?? 0) > 0) return wrong;
	return look.waiting > 0 || perSecondOf(look, rateOf) >= busyPerSecond || look.state === 'stopping' ? busy : resting;
}

/** Every look keeps the inspector busy: that is no news. Nor is what an actor does now and then, and did in the short time between two looks. */
function perSecondOf(look: ActorLook, rateOf: RateOf): number {
	const {messages, perSecond} = rateOf(look) ?? {messages: 0, perSecond: 0};
	return isInspector(look) || messages < busyMessages ? 0 : perSecond;
}

const isInspector = ({address}: ActorLook): boolean => parseAddress(address)?.path === inspectorPath;

const busyPerSecond = 1;
const busyMessages = 3;

// ---- lines -------------------------------------------------------------------------------------------------------------------

function linesBelow({tree, children}: Ranked, prefix: string, view: TreeView, depth: number): readonly string[] {
	const {childCount, wrongBelow = 0} = tree;
	if (depth <= 0) return [];
	const told = children.reduce((sum, {tree: child}) => sum + (isWrong(child) ? 1 : 0) + (child.wrongBelow ?? 0), 0);
	const items = [...itemsOf(children, view), ...restOf(childCount - children.length, Math.max(0, wrongBelow - told))];
	return items.flatMap((item, at) => {
		const isLast = at === items.length - 1;
		const own = `${prefix}${isLast ? '└─ ' : '├─ '}`;
		if (item.type === 'text') return [lineOf(own + view.colours.dim(item.text), view)];
		return drawActor(item.actor, own, prefix + (isLast ? '   ' : '│  '), view, item.type === 'folded' ? 1 : depth);
	});
}

/** A line below an actor: an actor with what is below it, or alone, or what is said of several. */
type Item = {readonly type: 'actor' | 'folded'; readonly actor: Ranked} | {readonly type: 'text'; readonly text: string};

/** What is not shown, and how much of all below that is wrong. */
const restOf = (count: number, wrongCount: number): readonly Item[] =>
	count <= 0 ? [] : [{type: 'text', text: `… ${count} more${wrongCount > 0 ? `, ${wrongCount} below wrong` : ''}`}];

function drawActor(actor: Ranked, own: string, prefix: string, view: TreeView, depth: number): readonly string[] {
	const {tree, children} = actor;
	const below = !view.all && actor.weight === resting && children.length > 0 && children.every(isPlain);
	const folded = below ? crowdText(tree.childCount, children) : depth > 1 ? '' : countBelow(tree);
	const head = `${own}${inOneLine(tree.name)}${aboutOf(tree, view)}${folded === '' ? '' : `  ${view.colours.dim(folded)}`}`;
	return [lineOf(head, view), ...(below ? [] : linesBelow(actor, prefix, view, depth - 1))];
}

/** Of an actor whose children are not drawn. */
const countBelow = ({childCount, wrongBelow = 0}: ActorTree): string =>
	childCount === 0 ? '' : `… ${childCount} below${wrongBelow > 0 ? `, ${wrongBelow} wrong` : ''}`;

/** Rests, has nothing to say and nothing below it. */
const isPlain = ({tree, weight}: Ranked): boolean => weight === resting && tree.childCount === 0 && saysNothing(tree);

/** What every record says of itself is no news. */
const saysNothing = (look: ActorLook): boolean =>
	(look.about === '' || isInspector(look) || /^generation \d+$/.test(look.about)) && look.restarts === 0;

/** `30 resting: a, b, c, …`, with as many names as a line has room for. */
function crowdText(count: number, actors: readonly Ranked[]): string {
	let text = `${count} resting: `;
	for (const [at, {tree}] of actors.entries()) {
		const name = inOneLine(tree.name);
		if (at > 0 && text.length + name.length > crowdCharacters) return `${text}, …`;
		text += at === 0 ? name : `, ${name}`;
	}
	return count > actors.length ? `${text}, …` : text;
}

const crowdCharacters = 70;

/** Plain ones in one line. Of a crowd that rests some stand for all; none where something beside it is wrong. */
function itemsOf(children: readonly Ranked[], view: TreeView): readonly Item[] {
	const actors = children.map((actor): Item => ({type: 'actor', actor}));
	if (view.all) return actors;
	const [empty, others] = parted(children, child => isPlain(child));
	const [quiet, shown] = parted(others, ({weight}) => weight === resting);
	const isCrowd = quiet.length > limits.inspectCrowd;
	const few = !isCrowd ? quiet : shown.some(({weight}) => weight === wrong) ? [] : largest(quiet);
	return [
		...shown.map((actor): Item => ({type: 'actor', actor})),
		...few.map((actor): Item => ({type: isCrowd ? 'folded' : 'actor', actor})),
		...plainItems([...quiet.filter(actor => !few.includes(actor)), ...empty]),
	];
}

/** Those with the most below them, in the order in which they are. */
function largest(actors: readonly Ranked[]): readonly Ranked[] {
	const ordered = actors.toSorted((a, b) => b.tree.childCount - a.tree.childCount).slice(0, limits.inspectCrowdShown);
	return actors.filter(actor => ordered.includes(actor));
}

/** One alone is a line anyway. */
const plainItems = (plain: readonly Ranked[]): readonly Item[] =>
	plain.length < 2 ? plain.map(actor => ({type: 'actor', actor})) : [{type: 'text', text: crowdText(plain.length, plain)}];

const parted = <One>(all: readonly One[], holds: (one: One) => boolean): readonly [readonly One[], readonly One[]] => [
	all.filter(holds),
	all.filter(one => !holds(one)),
];

const lineOf = (text: string, view: TreeView): string => `${fitted(text, view)}\n`;

// ---- what is said of one -----------------------------------------------------------------------------------------------------

/** State where it is worth a word, how busy it is, how it fared, and what it does. */
function aboutOf(look: ActorLook, {colours, rateOf}: TreeView): string {
	const {about, trouble, restarts, waiting, failure, failedAgoMs, faults = []} = look;
	const perSecond = perSecondOf(look, rateOf);
	const parts = [
		stateText(look, colours),
		...faults.map(fault => colours.magenta(`fault: ${inOneLine(fault)}`)),
		trouble === undefined ? '' : colours.red(inOneLine(trouble)),
		waiting > 0 ? colours.yellow(`${waiting} waiting`) : '',
		perSecond >= busyPerSecond ? colours.cyan(`${rateText(perSecond)}/s`) : '',
		restarts > 0 ? colours.yellow(counted(restarts, 'restart')) : '',
		about === '' || trouble !== undefined ? '' : colours.dim(inOneLine(about)),
		failure === undefined || failure === null
			? ''
			: colours.red(`last crash${failedAgoMs === undefined ? '' : ` ${ageOf(failedAgoMs)} ago`}: ${inOneLine(withoutActor(failure))}`),
	];
	return parts
		.filter(part => part !== '')
		.map(part => `  ${part}`)
		.join('');
}

export const rateText = (perSecond: number): string => (perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond)));

/** Running is the rule and needs no word. */
function stateText({state, pausedForMs}: ActorLook, colours: Colours): string {
	switch (state) {
		case 'running':
			return '';
		case 'committing':
			return colours.dim('committing');
		case 'stopping':
			return colours.yellow('stopping');
		case 'restarting':
			return colours.yellow('restarting');
		case 'paused':
			return colours.magenta(pausedForMs === undefined ? 'PAUSED' : `PAUSED for ${ageOf(pausedForMs)}`);
		case 'parked':
			return colours.red('PARKED');
	}
}

/** The state as a cell of a table. */
export const stateWord = (look: ActorLook, colours: Colours): string => stateText(look, colours) || 'running';

/** The trees of `ls`: each child of a place, the wrong and the busy first. */
export const childrenOf = (tree: ActorTree, rateOf: RateOf): readonly ActorTree[] =>
	tree.children
		.map(child => ({tree: child, weight: weightOf(child, rateOf), children: []}))
		.sort(byWeight)
		.map(({tree: child}) => child);

/** Every actor of a tree with the place it has. */
export const flattened = (tree: ActorTree): readonly ActorTree[] => [tree, ...tree.children.flatMap(flattened)];

export const placeOf = (look: Pick<ActorLook, 'address'>): string => placeOfAddress(look.address);
