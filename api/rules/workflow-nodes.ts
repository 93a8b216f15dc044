// Rules of a workflow in its older form, a graph of nodes: every way leads somewhere, every node is on a way, and every way comes to an end.

import {reachedFrom} from '../reached.js';
import type {JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {isDnsLabel, isDnsSubdomain} from './names.js';
import {forbid, isEmpty, itemsOf, membersOf, refuse, requireOne, textOf, type Found} from './report.js';

const types = ['numeric', 'string', 'boolean'] as const;
const relations = ['Equals', 'NotEquals', 'GreaterThan', 'LessThan', 'GreaterThanEquals', 'LessThanEquals'] as const;

export type ChoiceOperator = `${(typeof types)[number]}${(typeof relations)[number]}`;

/** `numericEquals`, `stringLessThan`, ...: the type of the value, and how the variable has to stand to it. */
export const choiceOperators: readonly ChoiceOperator[] = types.flatMap(type =>
	relations.map((relation): ChoiceOperator => `${type}${relation}`),
);

/** Which type a choice compares. */
export const typeOfOperator = (operator: ChoiceOperator): 'number' | 'string' | 'boolean' =>
	operator.startsWith('numeric') ? 'number' : operator.startsWith('string') ? 'string' : 'boolean';

/** Where a node leads, and the field that says so. */
type Edge = {readonly to: string; readonly path: string};

type Graph = {readonly names: readonly string[]; readonly edges: ReadonlyMap<string, readonly Edge[]>};

export function checkNodes(found: Found, path: string, spec: JsonObject): void {
	const nodes = Object.entries(membersOf(spec['nodes'])).map(([name, node]): [string, JsonObject] => [name, membersOf(node)]);
	if (nodes.length === 0) {
		if (isEmpty(spec['nodes']) && spec['nodes'] !== undefined)
			refuse(found, `${path}.nodes`, 'must name at least one node', 'FieldValueRequired');
		return;
	}
	for (const [name, node] of nodes) checkNode(found, joinPath(`${path}.nodes`, name), name, node);
	const graph: Graph = {
		names: nodes.map(([name]) => name),
		edges: new Map(nodes.map(([name, node]) => [name, edgesOf(node, joinPath(`${path}.nodes`, name))])),
	};
	checkEdges(found, path, graph, textOf(spec['startAt']));
}

function checkNode(found: Found, path: string, name: string, node: JsonObject): void {
	checkNodeName(found, path, name);
	const wrong = node['type'] === 'Task' ? ['choices', 'default'] : node['type'] === 'Choice' ? ['resource', 'next'] : [];
	for (const field of wrong)
		if (node[field] !== undefined) forbid(found, `${path}.${field}`, `must not be set in a ${shown(node['type'])} node`);
	if (node['type'] === 'Choice' && isEmpty(node['choices']))
		refuse(found, `${path}.choices`, 'is required in a "Choice" node', 'FieldValueRequired');
	const resource = textOf(node['resource']);
	if (resource !== undefined && !isFunctionName(resource))
		refuse(found, `${path}.resource`, `must be the name of a function, NAME or NAMESPACE/NAME, got ${shown(resource)}`);
	itemsOf(node['choices']).forEach((choice, i) =>
		requireOne(found, `${path}.choices[${i}]`, membersOf(choice), choiceOperators, ['variable', 'next']),
	);
}

/** Names of nodes are parts of paths and topics; nothing needs them to be lower case. */
function checkNodeName(found: Found, path: string, name: string): void {
	if (!/^[A-Za-z0-9]([-A-Za-z0-9_]{0,61}[A-Za-z0-9])?$/.test(name))
		refuse(found, path, `a node's name must be letters, digits, "-" and "_", at most 63 characters, got ${shown(name)}`);
}

function isFunctionName(text: string): boolean {
	const [first = '', second, ...more] = text.split('/');
	return more.length === 0 && (second === undefined ? isDnsSubdomain(first) : isDnsLabel(first) && isDnsSubdomain(second));
}

/** Fields that do not belong to the node lead nowhere. */
function edgesOf({type, next, choices, default: otherwise}: JsonObject, path: string): readonly Edge[] {
	if (type === 'Task') return edgeOf(next, `${path}.next`);
	return [
		...itemsOf(choices).flatMap((choice, i) => edgeOf(membersOf(choice)['next'], `${path}.choices[${i}].next`)),
		...edgeOf(otherwise, `${path}.default`),
	];
}

const edgeOf = (to: unknown, path: string): readonly Edge[] => (typeof to === 'string' ? [{to, path}] : []);

function checkEdges(found: Found, path: string, graph: Graph, startAt: string | undefined): void {
	const all = [...(startAt === undefined ? [] : [{to: startAt, path: `${path}.startAt`}]), ...[...graph.edges.values()].flat()];
	const lost = all.filter(({to}) => !graph.edges.has(to));
	for (const {to, path: at} of lost) refuse(found, at, `there is no node ${shown(to)}${didYouMean(to, graph.names)}`);
	// Where a way leads is known only when all of them lead somewhere.
	if (lost.length > 0 || startAt === undefined) return;
	const reached = reachedFrom([startAt], name => (graph.edges.get(name) ?? []).map(({to}) => to));
	const ending = reachedFrom(endsOf(graph), name => graph.names.filter(from => graph.edges.get(from)?.some(({to}) => to === name)));
	for (const name of graph.names) {
		const at = joinPath(`${path}.nodes`, name);
		if (!reached.has(name)) refuse(found, at, `no way leads to the node ${shown(name)} from ${shown(startAt)}`);
		else if (!ending.has(name)) refuse(found, at, `no way leads from the node ${shown(name)} to an end`);
	}
}

const endsOf = ({names, edges}: Graph): readonly string[] => names.filter(name => (edges.get(name) ?? []).length === 0);
