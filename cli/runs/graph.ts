// The states of a definition as a graph, and what of it a run has gone through. Pure.

import {processorOf, type Definition, type State, type StateMachine} from '../../api/states-language/definition.js';
import type {RunState} from '../../actors/control/workflows/run-states.js';
import type {RunNews} from '../../actors/workflows/run.js';

/** What has become of a state, by the last that is known of it. */
export type Mark = 'notReached' | 'done' | 'underWay' | 'failed';

export type GraphNode = {
	readonly name: string;
	readonly type: State['Type'];
	readonly mark: Mark;
	/** How often it was entered, in all branches and items. */
	readonly visits: number;
	/** What is in it: the branches of a Parallel, the machine of a Map's items. */
	readonly inner: readonly Graph[];
};

export type GraphEdge = {
	readonly from: string;
	readonly to: string;
	/** Why it is gone: rules of a Choice, errors that are caught; '' for the usual way. */
	readonly label: string;
	/** It is only gone after an error. */
	readonly isCatch: boolean;
	readonly isTaken: boolean;
};

/** One machine. */
export type Graph = {readonly startAt: string; readonly nodes: readonly GraphNode[]; readonly edges: readonly GraphEdge[]};

/** What is known of a run. */
export type Gone = {
	readonly marks: ReadonlyMap<string, Mark>;
	readonly visits: ReadonlyMap<string, number>;
	/** Ways from state to state that it has gone, by `wayOf`. */
	readonly ways: ReadonlySet<string>;
};

export const nothingGone: Gone = {marks: new Map(), visits: new Map(), ways: new Set()};

const wayOf = (from: string, to: string): string => JSON.stringify([from, to]);

/** From its history, or the last part of it, and from what is under way now. `unfinished`: what was entered, not left, and is not under way. */
export function goneThrough(news: readonly RunNews[], states: readonly Pick<RunState, 'state'>[], unfinished: Mark = 'failed'): Gone {
	const marks = new Map<string, Mark>();
	const visits = new Map<string, number>();
	const ways = new Set<string>();
	/** Where each machine is. */
	const at = new Map<string, string>();
	for (const each of news) {
		const {state, frame} = each;
		switch (each.type) {
			case 'entered': {
				const before = at.get(frame);
				if (before !== undefined) ways.add(wayOf(before, state));
				at.set(frame, state);
				visits.set(state, (visits.get(state) ?? 0) + 1);
				marks.set(state, unfinished);
				break;
			}
			case 'left':
				marks.set(state, 'done');
				break;
			case 'caught':
			case 'failed':
				marks.set(state, 'failed');
				break;
			case 'called':
			case 'chosen':
			case 'retried':
				break;
		}
	}
	for (const {state} of states) marks.set(state, 'underWay');
	return {marks, visits, ways};
}

/** The graph of a definition, with what was gone of it. */
export const graphOf = (definition: Definition, gone: Gone = nothingGone): Graph => machineGraph(definition, gone);

function machineGraph({StartAt, States}: StateMachine, gone: Gone): Graph {
	const all = Object.entries(States);
	return {
		startAt: StartAt,
		nodes: all.map(([name, state]) => ({
			name,
			type: state.Type,
			mark: gone.marks.get(name) ?? 'notReached',
			visits: gone.visits.get(name) ?? 0,
			inner: machinesIn(state).map(machine => machineGraph(machine, gone)),
		})),
		edges: all.flatMap(([name, state]) => joined(name, waysOf(state), gone)),
	};
}

function machinesIn(state: State): readonly StateMachine[] {
	if (state.Type === 'Parallel') return state.Branches;
	return state.Type === 'Map' ? [processorOf(state)] : [];
}

type Way = Pick<GraphEdge, 'to' | 'label' | 'isCatch'>;

function waysOf(state: State): readonly Way[] {
	const caught = 'Catch' in state ? (state.Catch ?? []) : [];
	return [
		...('Next' in state && state.Next !== undefined ? [{to: state.Next, label: '', isCatch: false}] : []),
		...(state.Type === 'Choice' ? choicesOf(state) : []),
		...caught.map(({ErrorEquals, Next}) => ({to: Next, label: ErrorEquals.join(', '), isCatch: true})),
	];
}

function choicesOf({Choices, Default}: Extract<State, {Type: 'Choice'}>): readonly Way[] {
	const rules = Choices.map(({Next}, at) => ({to: typeof Next === 'string' ? Next : '', label: `[${at}]`, isCatch: false}));
	return Default === undefined ? rules : [...rules, {to: Default, label: 'Default', isCatch: false}];
}

/** Several ways between two states are one edge. */
function joined(from: string, ways: readonly Way[], gone: Gone): readonly GraphEdge[] {
	const edges = new Map<string, GraphEdge>();
	for (const {to, label, isCatch} of ways) {
		const before = edges.get(to);
		const labels = [before?.label ?? '', label].filter(text => text !== '').join(', ');
		edges.set(to, {from, to, label: labels, isCatch: isCatch && before?.isCatch !== false, isTaken: gone.ways.has(wayOf(from, to))});
	}
	return [...edges.values()];
}

/** In the words that people read. */
export const markText: Readonly<Record<Mark, string>> = {
	notReached: 'not reached',
	done: 'done',
	underWay: 'under way',
	failed: 'failed',
};
