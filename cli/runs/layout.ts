// Where the states of a graph are drawn: layer below layer, machines inside their Parallel or Map. Pure, and quick for the largest definition.
//
// An edge to the next layer goes straight to it. Every other one goes between the layers, which has no boxes, to a lane at the right and along it: all
// edges to one state share its lane.

import type {Graph, GraphEdge, GraphNode} from './graph.js';

export type Box = {
	readonly node: GraphNode;
	readonly x: number;
	readonly y: number;
	readonly width: number;
	readonly height: number;
	/** What is in it, from its own left upper corner. */
	readonly inner: readonly Placed[];
};

export type Line = {
	readonly edge: GraphEdge;
	/** A path of SVG. */
	readonly path: string;
	/** Its end, which comes from above. */
	readonly tip: Point;
};

export type Point = {readonly x: number; readonly y: number};

export type Layout = {
	readonly width: number;
	readonly height: number;
	readonly boxes: readonly Box[];
	readonly lines: readonly Line[];
	/** Where it begins, straight above the first state. */
	readonly start: Point;
	/** Where that is entered. */
	readonly entry: Point;
};

/** A machine inside a box. */
export type Placed = Point & {readonly layout: Layout};

const gapX = 24;
const gapY = 44;
const boxHeight = 32;
const titleHeight = 26;
const padding = 12;
const laneWidth = 10;

export function layoutOf(graph: Graph): Layout {
	const layers = ordered(graph, layersOf(graph));
	const sizes = new Map(graph.nodes.map(node => [node.name, sizeOf(node)]));
	return withLines(graph, placed(graph, layers, sizes));
}

// ---- layers -----------------------------------------------------------------------------------------------------------------

type Layers = readonly (readonly string[])[];

/** Each state below all that lead to it, ways back left out. */
function layersOf(graph: Graph): ReadonlyMap<string, number> {
	const {order, back} = walked(graph);
	const layers = new Map<string, number>(order.map(name => [name, 0]));
	const after = successorsOf(graph);
	for (const from of order)
		for (const to of after.get(from) ?? [])
			if (!back.has(keyOf(from, to))) layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(from) ?? 0) + 1));
	return layers;
}

const keyOf = (from: string, to: string): string => JSON.stringify([from, to]);

function successorsOf({edges}: Graph): ReadonlyMap<string, readonly string[]> {
	const after = new Map<string, string[]>();
	for (const {from, to} of edges) {
		const list = after.get(from);
		if (list === undefined) after.set(from, [to]);
		else list.push(to);
	}
	return after;
}

/** Depth first from the start: an order in which only ways back lead upwards. Without recursion: a chain may have thousands of states. */
function walked(graph: Graph): {readonly order: readonly string[]; readonly back: ReadonlySet<string>} {
	const after = successorsOf(graph);
	const state = new Map<string, 'open' | 'done'>();
	const ended: string[] = [];
	const back = new Set<string>();
	for (const root of [graph.startAt, ...graph.nodes.map(({name}) => name)]) {
		if (state.has(root)) continue;
		const open = [{name: root, next: 0}];
		state.set(root, 'open');
		for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
			const to = (after.get(top.name) ?? [])[top.next++];
			if (to === undefined) {
				state.set(top.name, 'done');
				ended.push(top.name);
				open.pop();
			} else if (state.get(to) === 'open') back.add(keyOf(top.name, to));
			else if (!state.has(to)) {
				state.set(to, 'open');
				open.push({name: to, next: 0});
			}
		}
	}
	return {order: ended.toReversed(), back};
}

/** So that few edges cross: each state near the middle of its neighbours, looked at from above and from below in turn. */
function ordered({nodes, edges}: Graph, layerOf: ReadonlyMap<string, number>): Layers {
	const layers: string[][] = [];
	for (const {name} of nodes) (layers[layerOf.get(name) ?? 0] ??= []).push(name);
	const neighbours = new Map<string, string[]>(nodes.map(({name}) => [name, []]));
	for (const {from, to} of edges) {
		neighbours.get(from)?.push(to);
		neighbours.get(to)?.push(from);
	}
	let order = layers;
	for (let sweep = 0; sweep < sweeps; sweep++) {
		const place = new Map(order.flatMap(layer => layer.map((name, at) => [name, (at + 0.5) / layer.length] as const)));
		const isDown = sweep % 2 === 0;
		order = order.map((layer, at) => {
			const middle = (name: string): number => {
				const near = (neighbours.get(name) ?? []).filter(each => (layerOf.get(each) ?? 0) < at === isDown);
				return near.length === 0 ? (place.get(name) ?? 0) : near.reduce((sum, each) => sum + (place.get(each) ?? 0), 0) / near.length;
			};
			const middles = new Map(layer.map(name => [name, middle(name)]));
			const sorted = layer.toSorted((a, b) => (middles.get(a) ?? 0) - (middles.get(b) ?? 0));
			for (const [index, name] of sorted.entries()) place.set(name, (index + 0.5) / sorted.length);
			return sorted;
		});
	}
	return order;
}

const sweeps = 4;

// ---- boxes ------------------------------------------------------------------------------------------------------------------

type Size = Pick<Box, 'width' | 'height' | 'inner'>;

function sizeOf({name, inner, visits}: GraphNode): Size {
	const title = textWidth(name) + (visits > 1 ? textWidth(` ×${visits}`) : 0) + 2 * padding;
	if (inner.length === 0) return {width: title, height: boxHeight, inner: []};
	let x = padding;
	const machines = inner.map(graph => {
		const layout = layoutOf(graph);
		const at = {layout, x, y: titleHeight};
		x += layout.width + padding;
		return at;
	});
	return {
		width: Math.max(title, x),
		height: titleHeight + Math.max(...machines.map(({layout}) => layout.height)) + padding,
		inner: machines,
	};
}

/** Without a font to measure it: of others than letters of ours more is left free. */
const textWidth = (text: string): number => Array.from(text).reduce((sum, letter) => sum + (letter <= '\u024f' ? 7.5 : 14), 0);

type Rows = {
	readonly boxes: readonly Box[];
	/** Where each layer begins, and ends. */
	readonly rows: readonly {readonly top: number; readonly bottom: number}[];
	readonly layerOf: ReadonlyMap<string, number>;
	readonly width: number;
	readonly height: number;
};

function placed({nodes}: Graph, layers: Layers, sizes: ReadonlyMap<string, Size>): Rows {
	const byName = new Map(nodes.map(node => [node.name, node]));
	const widthOf = (layer: readonly string[]): number =>
		layer.reduce((sum, name) => sum + (sizes.get(name)?.width ?? 0), gapX * Math.max(0, layer.length - 1));
	const width = Math.max(...layers.map(widthOf));
	const boxes: Box[] = [];
	const rows: {top: number; bottom: number}[] = [];
	const layerOf = new Map<string, number>();
	let y = gapY;
	for (const [at, layer] of layers.entries()) {
		let x = (width - widthOf(layer)) / 2;
		let height = 0;
		for (const name of layer) {
			const [node, size] = [byName.get(name), sizes.get(name)];
			if (node === undefined || size === undefined) continue;
			boxes.push({node, x, y, ...size});
			layerOf.set(name, at);
			x += size.width + gapX;
			height = Math.max(height, size.height);
		}
		rows.push({top: y, bottom: y + height});
		y += height + gapY;
	}
	return {boxes, rows, layerOf, width, height: y - gapY / 2};
}

// ---- edges ------------------------------------------------------------------------------------------------------------------

function withLines(graph: Graph, {boxes, rows, layerOf, width, height}: Rows): Layout {
	const byName = new Map(boxes.map(box => [box.node.name, box]));
	const lanes = lanesOf(graph.edges, layerOf);
	const laneX = (lane: number): number => width + gapX + lane * laneWidth;
	const lines = graph.edges.flatMap((edge): readonly Line[] => {
		const [from, to] = [byName.get(edge.from), byName.get(edge.to)];
		const [above, below] = [layerOf.get(edge.from) ?? 0, layerOf.get(edge.to) ?? 0];
		if (from === undefined || to === undefined) return [];
		const [x1, y1, x2, y2] = [from.x + from.width / 2, from.y + from.height, to.x + to.width / 2, to.y];
		const edgeOfRow = rows[above]?.bottom ?? y1;
		if (below === above + 1) {
			const middle = (edgeOfRow + y2) / 2;
			return [{edge, path: path`M${x1} ${y1}V${edgeOfRow}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`, tip: {x: x2, y: y2}}];
		}
		const lane = lanes.get(edge.to) ?? 0;
		// Of those that go between the same two layers not all are on one height.
		const shift = gapY / 4 + (lane % 5) * (gapY / 10);
		const [out, into] = [edgeOfRow + shift, (rows[below]?.top ?? y2) - gapY + shift];
		// Beside the middle, where the straight ones are.
		const [leaves, enters] = [x1 + from.width / 4, x2 + to.width / 4];
		return [{edge, path: path`M${leaves} ${y1}V${out}H${laneX(lane)}V${into}H${enters}V${y2}`, tip: {x: enters, y: y2}}];
	});
	const first = byName.get(graph.startAt);
	const entry = {x: (first?.x ?? 0) + (first?.width ?? 0) / 2, y: first?.y ?? 0};
	const count = lanes.size === 0 ? 0 : Math.max(...lanes.values()) + 1;
	return {
		width: count === 0 ? width : laneX(count),
		height,
		boxes,
		lines,
		start: {x: entry.x, y: gapY / 4},
		entry,
	};
}

/** With numbers as they are read: a tenth of a pixel is enough. */
const path = (texts: TemplateStringsArray, ...numbers: readonly number[]): string =>
	texts.map((text, at) => text + (at < numbers.length ? String(Math.round((numbers[at] ?? 0) * 10) / 10) : '')).join('');

/** The lane of each state that is entered along one: two may have the same where they never meet. */
function lanesOf(edges: readonly GraphEdge[], layerOf: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
	const spans = new Map<string, {from: number; to: number}>();
	for (const {from, to} of edges) {
		const [above, below] = [layerOf.get(from) ?? 0, layerOf.get(to) ?? 0];
		if (below === above + 1) continue;
		// From the gap below its source to the gap above its target.
		const [begin, end] = [Math.min(above, below - 1), Math.max(above, below - 1)];
		const before = spans.get(to) ?? {from: begin, to: end};
		spans.set(to, {from: Math.min(before.from, begin), to: Math.max(before.to, end)});
	}
	const lanes = new Map<string, number>();
	const ends: number[] = [];
	for (const [name, span] of [...spans].sort(([, a], [, b]) => a.from - b.from || a.to - b.to)) {
		const free = ends.findIndex(end => end < span.from);
		const lane = free < 0 ? ends.length : free;
		ends[lane] = span.to;
		lanes.set(name, lane);
	}
	return lanes;
}
