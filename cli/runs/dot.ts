// A graph in DOT, the language of Graphviz: `troupe describe run/NAME -o dot | dot -Tpdf`. Pure.

import type {Graph, GraphEdge, GraphNode} from './graph.js';
import {markText} from './graph.js';
import {edgeColour, fillOf, lineOf} from './mark-colours.js';

export function dotOf(name: string, graph: Graph): string {
	const ids = new Map<string, string>();
	const lines = [
		`digraph ${quoted(name)} {`,
		'\tgraph [fontname="sans-serif", labeljust=l];',
		'\tnode [fontname="sans-serif", fontsize=12, style="filled,rounded", shape=box];',
		'\tedge [fontname="sans-serif", fontsize=10];',
		...machine(graph, ids, '\t'),
		'}',
	];
	return lines.map(line => `${line}\n`).join('');
}

/** Names are anything: the ids of nodes are numbers. A state's name is of one state of the whole definition. */
function machine({nodes, edges, startAt}: Graph, ids: Map<string, string>, indent: string): readonly string[] {
	for (const {name} of nodes) ids.set(name, `n${ids.size}`);
	const start = `start${ids.get(startAt) ?? ''}`;
	return [
		`${indent}${start} [label="", shape=circle, width=0.12, style=filled, fillcolor="#555555"];`,
		`${indent}${start} -> ${ids.get(startAt) ?? ''};`,
		...nodes.flatMap(node => nodeLines(node, ids, indent)),
		...edges.map(edge => `${indent}${ids.get(edge.from) ?? ''} -> ${ids.get(edge.to) ?? ''} [${edgeAttributes(edge)}];`),
	];
}

function nodeLines({name, type, mark, visits, inner}: GraphNode, ids: Map<string, string>, indent: string): readonly string[] {
	const id = ids.get(name) ?? '';
	const times = visits > 1 ? ` ×${visits}` : '';
	const shape = type === 'Choice' ? ', shape=diamond' : '';
	const own = `${id} [label=${quoted(`${name}${times}`)}, tooltip=${quoted(`${type}, ${markText[mark]}`)}, fillcolor="${fillOf(mark)}", color="${lineOf(mark)}"${shape}];`;
	if (inner.length === 0) return [`${indent}${own}`];
	const deeper = `${indent}\t`;
	return [
		`${indent}subgraph cluster_${id} {`,
		`${deeper}label=${quoted(`${name} (${type})`)}; color="${lineOf(mark)}";`,
		`${deeper}${own}`,
		...inner.flatMap((graph, at) => [
			`${deeper}subgraph cluster_${id}_${at} {`,
			`${deeper}\tlabel=""; color="#bbbbbb"; style=dashed;`,
			...machine(graph, ids, `${deeper}\t`),
			`${deeper}}`,
			`${deeper}${id} -> start${ids.get(graph.startAt) ?? ''} [style=dotted, arrowhead=none];`,
		]),
		`${indent}}`,
	];
}

const edgeAttributes = (edge: GraphEdge): string =>
	[
		`color="${edgeColour(edge)}"`,
		...(edge.isTaken ? ['penwidth=2'] : []),
		...(edge.isCatch ? ['style=dashed'] : []),
		...(edge.label === '' ? [] : [`label=${quoted(edge.label)}`]),
	].join(', ');

/** A quoted string of DOT: a backslash would begin an escape of a label. */
const quoted = (text: string): string =>
	`"${text
		.replaceAll('\\', '\\\\')
		.replaceAll('"', '\\"')
		.replace(/\p{Cc}+/gu, ' ')}"`;
