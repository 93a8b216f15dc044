// A run of a workflow that waits, while its functions get other code and the control plane dies: it goes on with the code that it began with.

import test from 'ava';
import type {FunctionObject} from '../../../api/kinds/function.js';
import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {Run} from '../../../api/kinds/run.js';
import {followObjects, type Following} from '../../../bench/rigs/cluster/waiting.js';
import {deploy} from '../_functions.js';
import {openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test, '--network=shared');

const task = (Resource: string, more: object): object => ({Type: 'Task', Resource, ...more});

/** `price` is called before and after somebody was asked, `tax` only after it. */
const definition = {
	StartAt: 'Price',
	States: {
		Price: task('price', {ResultPath: '$.before', Next: 'Ask'}),
		Ask: task('activity:ask', {ResultPath: null, Next: 'Each'}),
		Each: {
			Type: 'Map',
			ItemsPath: '$.items',
			ItemProcessor: {StartAt: 'Again', States: {Again: task('price', {End: true})}},
			ResultPath: '$.after',
			Next: 'Tax',
		},
		Tax: task('tax', {ResultPath: '$.tax', End: true}),
	},
};

const items = Array.from({length: 12}, (_, n) => n);
const outputOf = (version: string): object => ({
	items,
	before: `price ${version}`,
	after: items.map(() => `price ${version}`),
	tax: `tax ${version}`,
});

const deployAll = async (version: string): Promise<void> => {
	for (const name of ['price', 'tax'])
		await deploy(
			cluster,
			name,
			`def main(params):\n    return "${name} ${version}"\n`,
			{revisionHistoryLimit: 0, concurrency: 2, max: 2, idle: '1s'},
			'func.py',
		);
};

const begin = (name: string): Promise<void> =>
	cluster.apply({apiVersion: 'troupe.dev/v1', kind: 'Run', metadata: {name}, spec: {workflow: 'bill', input: {items}}});

const asks = (runs: Following, name: string): Promise<boolean> =>
	runs.until(`${name} asks`, found => (found.get(name) as Run | undefined)?.status?.at?.some(({state}) => state === 'Ask') === true);

const over = (runs: Following, name: string): Promise<Run> =>
	runs.until(`${name} is over`, found => {
		const run = found.get(name) as Run | undefined;
		return run?.status?.completionTime !== undefined && run;
	});

/** The sets of a function, by their names. */
const setsOf = (sets: ReadonlyMap<string, unknown>, name: string): readonly string[] =>
	[...sets.keys()].filter(each => each.startsWith(`${name}-`));

test.serial(
	'a run goes on with the code that it began with after an apply and a death of the server, a new one gets the new code',
	async t => {
		t.timeout(120_000);
		await deployAll('one');
		await cluster.apply({apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'bill'}, spec: {definition}});
		await begin('old');
		const before = await followObjects(await cluster.client(), 'runs');
		await asks(before, 'old');
		before.close();
		await deployAll('two');
		await cluster.killCluster();
		await cluster.up();

		const [runs, sets, functions] = await Promise.all(
			['runs', 'replicasets', 'functions'].map(async kind => followObjects(await cluster.client(), kind)),
		);
		if (runs === undefined || sets === undefined || functions === undefined) throw new Error('nothing is followed');
		t.teardown(() => [runs, sets, functions].forEach(each => each.close()));
		await begin('new');
		await asks(runs, 'new');
		t.is(await cluster.fine('execute', 'price'), '"price two"\n', 'who calls it for no run gets the newest');
		// What was called by then has no instances any more, and is kept.
		await functions.until('all are at rest', found => [...found.values()].every(each => (each as FunctionObject).status?.instances === 0));
		for (const name of ['price', 'tax']) t.is(setsOf(sets.objects, name).length, 2, name);
		const names = ((runs.objects.get('old') as Run).status?.functions ?? []).map(
			each => `${each.function.slice('default/'.length)}-${each.version}`,
		);
		t.deepEqual(
			names.map(name => sets.objects.has(name)),
			[true, true],
			'the word for a version is in the name of its set',
		);

		await Promise.all(['old', 'new'].map(name => cluster.fine('workflow', 'approve', `run/${name}`)));
		const [old, fresh] = await Promise.all([over(runs, 'old'), over(runs, 'new')]);
		t.deepEqual([old.status?.output, fresh.status?.output], [outputOf('one'), outputOf('two')]);

		await sets.until('the old versions are not kept beyond their limit', found =>
			['price', 'tax'].every(name => setsOf(found, name).length === 1),
		);
		t.true([...sets.objects.values()].every(set => !names.includes((set as ReplicaSet).metadata.name)));
		await functions.until('none is on its own', found =>
			[...found.values()].every(each => (each as FunctionObject).status?.apart === undefined),
		);
		t.is(await cluster.fine('execute', 'tax'), '"tax two"\n');
	},
);
