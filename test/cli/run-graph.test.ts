// The graph of a definition: what of it a run has gone through, and how it is drawn.

import test from 'ava';
import type {Definition, State} from '../../api/states-language/definition.js';
import type {RunNews} from '../../actors/workflows/run.js';
import {dotOf} from '../../cli/runs/dot.js';
import {goneThrough, graphOf, type Graph, type GraphNode} from '../../cli/runs/graph.js';
import {layoutOf, type Layout} from '../../cli/runs/layout.js';
import {svgOf} from '../../cli/runs/svg.js';

const task = (more: object): State => ({Type: 'Task', Resource: 'f', ...more});
const machine = (StartAt: string, States: Record<string, State>) => ({StartAt, States});

const order: Definition = machine('Charge', {
	Charge: task({Next: 'Much', Catch: [{ErrorEquals: ['NoMoney', 'NoCard'], Next: 'Ask'}]}),
	Ask: task({Next: 'Charge'}),
	Much: {
		Type: 'Choice',
		Choices: [
			{Variable: '$.n', NumericGreaterThan: 5, Next: 'Both'},
			{Variable: '$.m', NumericGreaterThan: 5, Next: 'Both'},
		],
		Default: 'Done',
	},
	Both: {
		Type: 'Parallel',
		Branches: [
			machine('Pack', {Pack: task({End: true})}),
			machine('Each', {Each: {Type: 'Map', ItemProcessor: machine('One', {One: task({End: true})}), End: true}}),
		],
		Next: 'Done',
	},
	Done: {Type: 'Succeed'},
});

const entered = (state: string, frame = ''): RunNews => ({type: 'entered', state, frame, input: {}});
const left = (state: string, frame = ''): RunNews => ({type: 'left', state, frame});
const error = {Error: 'NoMoney', Cause: ''};

/** Charged twice, then one branch at work and the other over. */
const news: readonly RunNews[] = [
	entered('Charge'),
	{type: 'called', state: 'Charge', frame: '', attempt: 1},
	{type: 'caught', state: 'Charge', frame: '', catcher: 0, error},
	...[entered('Ask'), left('Ask'), entered('Charge'), left('Charge')],
	...[entered('Much'), {type: 'chosen', state: 'Much', frame: '', rule: 0} as const, left('Much'), entered('Both')],
	...[entered('Pack', 'a/'), entered('Each', 'b/'), entered('One', 'b/c/'), left('One', 'b/c/'), entered('One', 'b/d/')],
	{type: 'failed', state: 'Pack', frame: 'a/', error},
];

const under = [{state: 'Both'}, {state: 'Each'}, {state: 'One'}];

function allNodes({nodes}: Graph): readonly GraphNode[] {
	return nodes.flatMap(node => [node, ...node.inner.flatMap(allNodes)]);
}

test('each state is marked by the last that is known of it, and ways are those that were gone', t => {
	const graph = graphOf(order, goneThrough(news, under));
	t.deepEqual(Object.fromEntries(allNodes(graph).map(({name, mark, visits}) => [name, [mark, visits]])), {
		Charge: ['done', 2],
		Ask: ['done', 1],
		Much: ['done', 1],
		Both: ['underWay', 1],
		Pack: ['failed', 1],
		Each: ['underWay', 1],
		One: ['underWay', 2],
		Done: ['notReached', 0],
	});
	t.deepEqual(
		graph.edges.map(({from, to, label, isCatch, isTaken}) => [from, to, label, isCatch, isTaken]),
		[
			['Charge', 'Much', '', false, true],
			['Charge', 'Ask', 'NoMoney, NoCard', true, true],
			['Ask', 'Charge', '', false, true],
			['Much', 'Both', '[0], [1]', false, true],
			['Much', 'Done', 'Default', false, false],
			['Both', 'Done', '', false, false],
		],
	);
	const over = graphOf(order, goneThrough(news, []));
	t.is(over.nodes.find(({name}) => name === 'Both')?.mark, 'failed', 'what a run that is over has not left');
	t.is(graphOf(order, goneThrough(news, [], 'underWay')).nodes.find(({name}) => name === 'Both')?.mark, 'underWay');
	t.true(allNodes(graphOf(order)).every(({mark}) => mark === 'notReached'));
});

test('DOT has every state once, branches as clusters, and names as nothing but names', t => {
	const dot = dotOf('run "one"\\', graphOf(order, goneThrough(news, under)));
	t.true(dot.startsWith('digraph "run \\"one\\"\\\\" {\n'));
	for (const name of ['Charge ×2', 'Ask', 'Much', 'Pack', 'Each', 'One ×2', 'Done']) t.is(dot.split(`[label="${name}"`).length, 2, name);
	t.is(dot.split('subgraph cluster').length - 1, 5);
	t.regex(dot, /label="Both \(Parallel\)"/);
	t.regex(dot, /tooltip="Task, failed", fillcolor="#f6cdc9"/);
	t.regex(dot, /style=dashed, label="NoMoney, NoCard"/);
	t.is(dot.split('{').length, dot.split('}').length);
	const odd = dotOf('x', graphOf(machine('a"];\n', {'a"];\n': task({End: true})})));
	t.true(odd.includes('label="a\\"]; "'));
});

/** Where each state is, on the whole drawing. */
function places({boxes}: Layout, x = 0, y = 0): readonly {name: string; left: number; top: number; right: number; bottom: number}[] {
	return boxes.flatMap(box => [
		{name: box.node.name, left: x + box.x, top: y + box.y, right: x + box.x + box.width, bottom: y + box.y + box.height},
		...box.inner.flatMap(each => places(each.layout, x + box.x + each.x, y + box.y + each.y)),
	]);
}

test('no two states are drawn over each other, those of a branch are inside of it, and ways lead down but for loops', t => {
	const all = places(layoutOf(graphOf(order)));
	const at = new Map(all.map(each => [each.name, each]));
	const inside = new Set(['Pack Both', 'Each Both', 'One Each', 'One Both']);
	for (const a of all)
		for (const b of all) {
			if (a === b) continue;
			const isOver = a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
			t.is(isOver, inside.has(`${a.name} ${b.name}`) || inside.has(`${b.name} ${a.name}`), `${a.name} and ${b.name}`);
			if (inside.has(`${a.name} ${b.name}`))
				t.true(a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom, `${a.name} in ${b.name}`);
		}
	for (const [above, below] of [
		['Charge', 'Much'],
		['Much', 'Both'],
		['Both', 'Done'],
		['Charge', 'Ask'],
	] as const)
		t.true((at.get(above)?.bottom ?? 0) < (at.get(below)?.top ?? 0), `${above} above ${below}`);
});

test('SVG has every state with what has become of it, and is well formed whatever names there are', t => {
	const svg = svgOf('one', graphOf(order, goneThrough(news, under)));
	for (const text of ['Charge: Task, done', 'Pack: Task, failed', 'One: Task, under way', 'Done: Succeed, not reached'])
		t.true(svg.includes(`<title>${text}</title>`), text);
	t.true(svg.includes('Charge -&gt; Ask: NoMoney, NoCard'));
	for (const tag of ['svg', 'g', 'title', 'text']) t.is(svg.split(`<${tag}`).length, svg.split(`</${tag}>`).length, tag);
	t.notRegex(svg, /NaN|undefined|Infinity/);
	const odd = svgOf('x', graphOf(machine('<a href="x">\u0001\ud800', {'<a href="x">\u0001\ud800': task({End: true})})));
	t.true(odd.includes('>&lt;a href=&quot;x&quot;&gt;  </text>'));
});

test('the largest definition is drawn at once: a chain with ways from everywhere to everywhere', t => {
	const count = 2_000;
	const States = Object.fromEntries(
		Array.from({length: count}, (_, at) => [
			`S${at}`,
			task({
				...(at < count - 1 ? {Next: `S${at + 1}`} : {End: true}),
				Catch: [{ErrorEquals: ['A'], Next: `S${(at * 7_919) % count}`}],
			}),
		]),
	);
	const svg = svgOf('large', graphOf(machine('S0', States)));
	t.is(svg.split('<text').length - 1, count);
	t.true(svg.length < 3_000_000);
});
