// What is delivered to functions: calls whose answer is fetched later, times, and changes of objects; also through a death of the cluster.

import test from 'ava';
import type {FunctionsAnswer, DeliveryCounts} from '../../api/function-figures.js';
import {functionFiguresPath} from '../../api/function-figures.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {call, deploy, valueOf} from './_functions.js';
import {openFileHome} from './_rig.js';

const {cluster, client} = openFileHome(test);

/** Code of a function that writes what it is called with to its log. */
const noted = (answer = 'null'): string =>
	`export default (params, request) => {
	console.log('NOTE ' + JSON.stringify({params, headers: request.headers}));
	return ${answer};
};
`;

type Noted = {readonly params: unknown; readonly headers: Readonly<Record<string, string>>};

async function notesOf(name: string): Promise<readonly Noted[]> {
	const {out} = await cluster.troupe('logs', `function/${name}`);
	return out.split('\n').flatMap(line => (line.includes('NOTE ') ? [JSON.parse(line.slice(line.indexOf('NOTE ') + 5)) as Noted] : []));
}

async function countsOf(name: string): Promise<readonly DeliveryCounts[]> {
	const {functions} = (await client().json({path: functionFiguresPath})) as FunctionsAnswer;
	return functions.find(each => each.name === name)?.triggers ?? [];
}

test.serial('a call need not be waited for: its answer is fetched later', async t => {
	await deploy(cluster, 'later', 'export default ({x, y}) => ({sum: x + y});\n');
	const accepted = await call(cluster, 'later', {x: 1, y: 2}, {headers: {prefer: 'respond-async'}});
	t.is(accepted.status, 202);
	const {id, result} = valueOf(accepted) as {id: string; result: string};
	t.is(accepted.headers['location'], result);
	t.is(await cluster.fine('execute', '--result', id), '{"sum":3}\n');
	const fetched = await fetch(`${cluster.endpoints().web}${result}`, {headers: {authorization: `Bearer ${cluster.token()}`}});
	t.deepEqual([fetched.status, await fetched.json(), fetched.headers.get('x-troupe-call')], [200, {sum: 3}, 'answered']);
	t.is((await cluster.troupe('execute', '--result', 'none')).code, 3);
	t.is((await call(cluster, 'nobody', {}, {headers: {prefer: 'respond-async'}})).status, 404);
});

test.serial('what fails says so to whoever fetches it', async t => {
	await deploy(cluster, 'fails', 'export default () => { throw new Error("no luck"); };\n');
	const id = (await cluster.fine('execute', 'fails', '--async')).trim();
	const {code, err} = await cluster.troupe('execute', '--result', id);
	t.is(code, 1);
	t.regex(err, /no luck/);
});

test.serial('changes of objects call a function, each once and in order, and not those of its own instances', async t => {
	await deploy(cluster, 'sees', noted(), {
		max: 1,
		triggers: [
			{name: 'maps', objects: {kind: 'ConfigMap', selector: {matchLabels: {watched: 'yes'}}}},
			{name: 'pods', objects: {kind: 'Pod'}},
		],
	});
	const map = (v: string): object => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'm', labels: {watched: 'yes'}}, data: {v}});
	for (const v of ['1', '2']) await cluster.apply(map(v));
	await cluster.fine('delete', 'configmap', 'm');
	await eventually('all were told', async () => (await notesOf('sees')).length === 3);
	t.deepEqual(
		(await notesOf('sees')).map(({params, headers}) => {
			const {change, object} = params as {change: string; object: {data: {v: string}}};
			return [headers['x-troupe-trigger'], change, object.data.v];
		}),
		[
			['maps', 'created', '1'],
			['maps', 'updated', '2'],
			['maps', 'deleted', '2'],
		],
	);
	await eventually('all are counted', async () => (await countsOf('sees'))[0]?.delivered === 3);
	t.deepEqual(await countsOf('sees'), [{trigger: 'maps', accepted: 3, waiting: 0, delivered: 3, retried: 0, failed: 0}]);
	t.regex(await cluster.fine('describe', 'function/sees'), /maps +changes of ConfigMap +3 +0 +3 +0 +0\n +pods +changes of Pod +0 /);
});

test.serial('a trigger that names no kind is told in the events of the function', async t => {
	await deploy(cluster, 'blind', 'export default () => null;\n', {triggers: [{name: 'none', objects: {kind: 'Unicorn'}}]});
	let text = '';
	await eventually('it is told', async () => (text = await cluster.fine('describe', 'function/blind')).includes('Undelivered'));
	t.regex(text, /Undelivered.*trigger "none": there is no kind "Unicorn"/);
});

test.serial('a call that was accepted is made, also when the cluster dies', async t => {
	t.timeout(120_000);
	// The first one is never answered: it is under way when the cluster dies.
	const code = noted('params.n > 0 || begun++ > 0 ? params.n : new Promise(() => undefined)');
	await deploy(cluster, 'survives', `let begun = 0;\n${code}`, {concurrency: 8, max: 1});
	const stuck = (await cluster.fine('execute', 'survives', '{"n": 0}', '--async')).trim();
	await eventually('it was begun', async () => (await notesOf('survives')).length === 1);
	const ids: string[] = [];
	for (let n = 1; n <= 3; n++) ids.push((await cluster.fine('execute', 'survives', JSON.stringify({n}), '--async')).trim());
	await cluster.killCluster();
	await cluster.up();
	t.deepEqual(await Promise.all([stuck, ...ids].map(id => cluster.fine('execute', '--result', id))), ['0\n', '1\n', '2\n', '3\n']);
});
