// Chooses a node for a pod: of those where it fits the one it likes best, of equals the one that the strategy prefers.

import type {Candidate} from './candidate.js';
import {openMisfit, type Look} from './look.js';
import type {Round} from './round.js';
import {strategyScore} from './strategy.js';
import {compareTastes, isChoosy, tasteOf, type Taste} from './tastes.js';

/** The node, or undefined where none fits. `only`: no other ones are looked at. */
export function pick(look: Look, uid: string, round: Round, only?: ReadonlySet<string>): Candidate | undefined {
	const nodes = only === undefined ? look.open : look.open.filter(({name}) => only.has(name));
	round.work += nodes.length;
	switch (round.strategy) {
		case 'random':
			return anyOfBest(nodes, look, uid, round);
		case 'round-robin':
			return firstOfBest(fromTurn(nodes, round.turn), look, uid, round);
		case 'least-pods':
		case 'most-pods':
		case 'least-cpu':
		case 'least-memory':
			return best(nodes, look, uid, round);
	}
}

/** Filters cost more than scores: only what would be better is asked whether it fits. */
function best(nodes: readonly Candidate[], look: Look, uid: string, round: Round): Candidate | undefined {
	const choosy = isChoosy(look);
	let found: Candidate | undefined;
	let foundScore = 0;
	let foundTaste: Taste | undefined;
	for (const node of nodes) {
		const score = strategyScore(round.strategy, node, look.needs);
		const taste = choosy ? tasteOf(look, node) : undefined;
		if (found !== undefined) {
			const liked = taste === undefined || foundTaste === undefined ? 0 : compareTastes(taste, foundTaste);
			const difference = liked !== 0 ? liked : score !== foundScore ? score - foundScore : node.pods - found.pods;
			if (difference >= 0) continue;
		}
		if (openMisfit(look, uid, node, round.holdsPort) !== undefined) continue;
		found = node;
		foundScore = score;
		foundTaste = taste;
	}
	return found;
}

/** The list from the round-robin's place on, and around. */
function fromTurn(nodes: readonly Candidate[], turn: number): readonly Candidate[] {
	const start = nodes.findIndex(({index}) => index >= turn);
	return start <= 0 ? nodes : [...nodes.slice(start), ...nodes.slice(0, start)];
}

function firstOfBest(nodes: readonly Candidate[], look: Look, uid: string, round: Round): Candidate | undefined {
	if (!isChoosy(look)) return nodes.find(node => openMisfit(look, uid, node, round.holdsPort) === undefined);
	return fittingBest(nodes, look, uid, round)[0];
}

function anyOfBest(nodes: readonly Candidate[], look: Look, uid: string, round: Round): Candidate | undefined {
	const fitting = isChoosy(look)
		? fittingBest(nodes, look, uid, round)
		: nodes.filter(node => openMisfit(look, uid, node, round.holdsPort) === undefined);
	return fitting[Math.floor(round.random() * fitting.length)];
}

/** All that fit and are liked best. */
function fittingBest(nodes: readonly Candidate[], look: Look, uid: string, round: Round): readonly Candidate[] {
	let found: Candidate[] = [];
	let taste: Taste | undefined;
	for (const node of nodes) {
		const its = tasteOf(look, node);
		const difference = taste === undefined ? -1 : compareTastes(its, taste);
		if (difference > 0 || openMisfit(look, uid, node, round.holdsPort) !== undefined) continue;
		if (difference < 0) found = [];
		taste = its;
		found.push(node);
	}
	return found;
}
