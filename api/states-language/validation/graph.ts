// The graph of one machine: every transition leads to a state, every state is on a way, and from each there is a way to an end.
//
// Loops are legal, as through a Choice, as long as a way leads out of them.

import {reachedFrom} from '../../reached.js';
import {limits} from '../../limits.js';
import {isObject, type JsonObject} from '../../object.js';
import {joinPath} from '../../path.js';
import {itemsOf, membersOf, refuse} from '../../rules/report.js';
import {shown} from '../../shown.js';
import {didYouMean} from '../../suggest.js';
import type {Found} from './report.js';

type Edge = {readonly to: string; readonly path: string};

type Graph = {readonly names: readonly string[]; readonly edges: ReadonlyMap<string, readonly Edge[]>; readonly ends: readonly string[]};

export function checkGraph(found: Found, path: string, machine: JsonObject): void {
	const states = Object.entries(membersOf(machine['States'])).flatMap(([name, state]) => (isObject(state) ? [[name, state] as const] : []));
	const statesPath = joinPath(path, 'States');
	const graph: Graph = {
		names: states.map(([name]) => name),
		edges: new Map(states.map(([name, state]) => [name, edgesOf(state, joinPath(statesPath, name))])),
		ends: states.filter(([, state]) => isEnd(state)).map(([name]) => name),
	};
	const start = machine['StartAt'];
	const all = [...(typeof start === 'string' ? [{to: start, path: joinPath(path, 'StartAt')}] : []), ...[...graph.edges.values()].flat()];
	const lost = all.filter(({to}) => !graph.edges.has(to));
	// More are not told, and looking for names that are meant costs.
	for (const {to, path: at} of lost.slice(0, limits.problemsShown))
		refuse(found, at, `there is no state ${shown(to)} in this machine${didYouMean(to, graph.names)}`);
	// Where a way leads is known only when all of them lead somewhere.
	const isKnown = lost.length === 0 && states.every(([name, state]) => isEnd(state) || (graph.edges.get(name) ?? []).length > 0);
	if (isKnown && typeof start === 'string') checkWays(found, statesPath, graph, start);
}

function checkWays(found: Found, path: string, {names, edges, ends}: Graph, start: string): void {
	const back = new Map<string, string[]>(names.map(name => [name, []]));
	for (const [from, out] of edges) for (const {to} of out) back.get(to)?.push(from);
	const reached = reachedFrom([start], name => (edges.get(name) ?? []).map(({to}) => to));
	const ending = reachedFrom(ends, name => back.get(name) ?? []);
	for (const name of names) {
		const at = joinPath(path, name);
		if (!reached.has(name)) refuse(found, at, `no way leads to this state from ${shown(start)}; lead one there, or take it out`);
		else if (!ending.has(name))
			refuse(
				found,
				at,
				'no way leads from this state to an end: give a state on the way "End": true, or lead it to a Succeed or Fail state',
			);
	}
}

const isEnd = ({Type, End}: JsonObject): boolean => Type === 'Succeed' || Type === 'Fail' || End === true;

function edgesOf(state: JsonObject, path: string): readonly Edge[] {
	const {Type, Next, Default, Choices, Catch} = state;
	if (Type === 'Succeed' || Type === 'Fail') return [];
	const own = Type === 'Choice' ? edgeOf(Default, `${path}.Default`) : edgeOf(Next, `${path}.Next`);
	const listed = Type === 'Choice' ? Choices : Catch;
	const field = Type === 'Choice' ? 'Choices' : 'Catch';
	return [...itemsOf(listed).flatMap((each, at) => edgeOf(membersOf(each)['Next'], `${path}.${field}[${at}].Next`)), ...own];
}

const edgeOf = (to: unknown, path: string): readonly Edge[] => (typeof to === 'string' ? [{to, path}] : []);
