// What scenarios are made of: what clients ask for, small harm, and faults below for a while.

import type {Act, Deed, Draw, Place} from './plan.js';

const program = (draw: Draw) => (draw.chance(0.08) ? 'fails' : draw.chance(0.1) ? 'ignoresTerm' : 'serves');

/** Deeds one after another, some close together, some seconds apart. */
export function inTurn(draw: Draw, deeds: readonly Deed[], startMs = 0): Act[] {
	let atMs = startMs;
	return deeds.map(deed => {
		const act = {...deed, atMs} as Act;
		atMs += draw.chance(0.5) ? draw.between(0, 50) : draw.between(50, 2_500);
		return act;
	});
}

const place = (draw: Draw): Place => (draw.chance(0.5) ? 'control' : draw.share());

/** Sets that are there from the beginning: what follows has something to harm. */
export const sets = (draw: Draw, count: number, replicas: number): Deed[] =>
	Array.from({length: count}, (_, index) => ({
		type: 'create',
		set: `set-${index + 1}`,
		replicas: 1 + draw.below(replicas),
		program: program(draw),
	}));

export const clientDeeds: readonly ((draw: Draw, index: number) => Deed)[] = [
	(draw, index) => ({type: 'create', set: `late-${index}`, replicas: draw.below(3), program: program(draw)}),
	draw => ({type: 'scale', set: draw.share(), replicas: draw.below(4)}),
	draw => ({type: 'scale', set: draw.share(), replicas: draw.below(4)}),
	draw => ({type: 'deleteSet', set: draw.share()}),
	(draw, index) => ({type: 'createPod', pod: `pod-${index}`, ...(draw.chance(0.2) ? {held: true} : {})}),
	draw => ({type: 'deletePod', pod: draw.share(), ...(draw.chance(0.2) ? {graceSeconds: 0} : {})}),
];

export const smallHarm: readonly ((draw: Draw) => Deed)[] = [
	draw => ({type: 'killProgram', node: draw.share(), pod: draw.share()}),
	draw => ({type: 'loseSandbox', node: draw.share(), pod: draw.share()}),
	draw => ({type: 'crashActor', place: place(draw), actor: draw.share()}),
	draw => ({type: 'crashActor', place: place(draw), actor: draw.share()}),
	draw => ({type: 'kill', place: draw.share(), forMs: draw.between(0, 3_000)}),
	draw => ({type: 'kill', place: 'control', forMs: draw.between(0, 3_000)}),
	draw => ({type: 'restart', node: draw.share(), forMs: draw.between(0, 3_000)}),
	draw => ({type: 'stop', place: place(draw), forMs: draw.between(100, 3_000)}),
	draw => ({type: 'killAtCommit', place: place(draw), commits: draw.below(8)}),
	draw => ({type: 'hostDown', node: draw.share(), forMs: draw.between(0, 4_000)}),
	draw => ({type: 'cutConnection', node: draw.share(), line: draw.one(['control', 'bulk', 'beat']), forMs: draw.between(0, 1_000)}),
	draw => ({type: 'partition', nodes: draw.share(), way: 'both', forMs: draw.between(0, 10_000)}),
	draw => ({type: 'clockJump', place: place(draw), byMs: draw.between(-3_600_000, 3_600_000)}),
	() => ({type: 'cutWatcher'}),
	draw => ({
		type: 'runtime',
		node: draw.share(),
		fails: draw.share() / 2,
		silent: draw.chance(0.2) ? 0.1 : 0,
		slowMs: draw.chance(0.5) ? draw.between(0, 2_000) : 0,
		forMs: draw.between(100, 5_000),
	}),
];

export const packetsOf = (draw: Draw, forMs: number): Deed => ({
	type: 'packets',
	faults: {
		drop: draw.share() * 0.2,
		repeat: draw.share() * 0.1,
		delay: draw.share() * 0.3,
		delayMs: draw.between(20, 420),
		...(draw.chance(0.3) ? {words: draw.share() / 2} : {}),
	},
	forMs,
});

export const storeOf = (draw: Draw, at: Place, forMs: number): Deed => ({
	type: 'store',
	place: at,
	trouble: {
		failCommit: draw.share() * 0.1,
		unknownCommit: draw.share() * 0.05,
		commitMs: draw.chance(0.5) ? draw.between(0, 10) : 0,
		unreachable: false,
	},
	forMs,
});
