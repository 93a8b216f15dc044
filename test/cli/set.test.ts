// `troupe set`: images, variables and resources of containers.

import test from 'ava';
import type {JsonObject} from '../../api/object.js';
import {containersOf, containersPatch} from '../../cli/set/containers.js';
import {aReplicaSet} from '../server/cluster.js';
import {openCluster} from './_rig.js';

const template = {
	initContainers: [{name: 'first', image: 'first:1', command: ['true']}],
	containers: [
		{
			name: 'web',
			image: 'web:1',
			command: ['sleep', '1'],
			env: [
				{name: 'A', value: '1'},
				{name: 'B', value: '2'},
			],
		},
		{name: 'log', image: 'log:1', command: ['sleep', '1'], resources: {limits: {cpu: '2', memory: '1Gi'}}},
	],
};
const set = (() => {
	const object = aReplicaSet('web', 0) as {spec: {template: object}};
	return {...object, spec: {...object.spec, template: {...object.spec.template, spec: template}}};
})();

type Written = {name: string; image: string; env?: object[]; resources?: {limits?: object; requests?: object}};

async function withSet(t: Parameters<typeof openCluster>[0]) {
	const rig = await openCluster(t);
	t.is((await rig.troupe(['create', '-f', '-'], {input: JSON.stringify(set)})).code, 0);
	const spec = () =>
		(rig.cluster.control.index.get('replicasets/default/web')?.spec as {template: {spec: {[list: string]: Written[]}}}).template.spec;
	return {
		...rig,
		containers: () => spec()['containers'] ?? [],
		all: () => [...(spec()['initContainers'] ?? []), ...(spec()['containers'] ?? [])],
	};
}

test('set image: by the name of a container, or of all', async t => {
	const {troupe, all} = await withSet(t);
	const images = () => all().map(({image}) => image);
	t.deepEqual(await troupe(['set', 'image', 'rs/web', 'web=web:2']), {code: 0, out: 'replicaset.apps/web image updated\n', err: ''});
	t.deepEqual(images(), ['first:1', 'web:2', 'log:1']);
	t.is((await troupe(['set', 'image', 'rs', 'web', 'web=web:2'])).out, 'replicaset.apps/web image unchanged\n');
	t.is((await troupe(['set', 'image', 'rs', '--all', 'web=web:3', '*=any:1'])).out, 'replicaset.apps/web image updated\n');
	t.deepEqual(images(), ['any:1', 'web:3', 'any:1']);
	const dry = await troupe(['set', 'image', 'rs/web', 'log=log:9', '--dry-run=server']);
	t.is(dry.out, 'replicaset.apps/web image updated (server dry run)\n');
	t.deepEqual(images(), ['any:1', 'web:3', 'any:1']);
	const missing = await troupe(['set', 'image', 'rs/web', 'wbe=x', 'log=y']);
	t.deepEqual(missing, {code: 1, out: '', err: 'error: replicaset.apps/web has no container "wbe"; did you mean "web"?\n'});
	t.deepEqual(images(), ['any:1', 'web:3', 'any:1']);
	const name = await troupe(['set', 'image', '-f', '-', 'log=log:2', '-o', 'name'], {input: JSON.stringify(set)});
	t.is(name.out, 'replicaset.apps/web\n');
});

test('set env: sets, removes, takes from ConfigMaps and Secrets, and lists', async t => {
	const {troupe, containers} = await withSet(t);
	const env = (at: number) => containers()[at]?.env;
	t.is((await troupe(['set', 'env', 'rs/web', 'B=3', 'C=4=5', 'A-', 'X-', '-c', 'web'])).out, 'replicaset.apps/web env updated\n');
	t.deepEqual(env(0), [
		{name: 'B', value: '3'},
		{name: 'C', value: '4=5'},
	]);
	t.is(env(1), undefined);
	t.is((await troupe(['set', 'env', 'rs/web', 'B=3', '-c', 'w*'])).out, 'replicaset.apps/web env unchanged\n');
	const taken = await troupe(['set', 'env', 'rs/web', 'B=9', '--overwrite=false', '-c', 'web']);
	t.deepEqual([taken.code, taken.err], [4, 'error: B is there already, and --overwrite is false\n']);
	await troupe(['create', 'configmap', 'page', '--from-literal', 'index.html=x', '--from-literal', 'b=y']);
	await troupe(['create', 'secret', 'login', '--from-literal', 'pin=4711']);
	t.is((await troupe(['set', 'env', 'rs/web', '--from', 'configmap/page', '--keys', 'index.html', '--prefix', 'P_', '-c', 'log'])).code, 0);
	t.deepEqual(env(1), [{name: 'P_INDEX_HTML', valueFrom: {configMapKeyRef: {name: 'page', key: 'index.html'}}}]);
	t.is((await troupe(['set', 'env', 'rs/web', '--from=secret/login', 'D=1', '-c', 'log'])).code, 0);
	const listed = await troupe(['set', 'env', 'rs/web', '--list']);
	t.is(
		listed.out,
		[
			'# replicaset.apps/web, container first',
			'# replicaset.apps/web, container web',
			'B=3',
			'C=4=5',
			'# replicaset.apps/web, container log',
			'# P_INDEX_HTML from configmap page, key index.html',
			'# PIN from secret login, key pin',
			'D=1',
			'',
		].join('\n'),
	);
	const keyless = await troupe(['set', 'env', 'rs/web', '--from=configmap/page', '--keys=c']);
	t.regex(keyless.err, /configmap\/page has no key c; there are index\.html, b/);
});

test('set resources: what is not named stays, and 0 takes one away', async t => {
	const {troupe, containers} = await withSet(t);
	const resources = (at: number) => containers()[at]?.resources;
	const said = await troupe(['set', 'resources', 'rs/web', '-c', 'log', '--limits=cpu=1', '--requests=cpu=500m,memory=1Gi']);
	t.is(said.out, 'replicaset.apps/web resource requirements updated\n');
	t.like(resources(1), {limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '500m', memory: '1Gi'}});
	t.is(
		(await troupe(['set', 'resources', 'rs/web', '-c', 'log', '--limits=cpu=1'])).out,
		'replicaset.apps/web resource requirements unchanged\n',
	);
	t.is((await troupe(['set', 'resources', 'rs/web', '-c', 'log', '--limits', 'memory=0', '--requests', 'memory=0'])).code, 0);
	t.deepEqual(resources(1), {limits: {cpu: '1'}, requests: {cpu: '500m'}});
	const wrong = await troupe(['set', 'resources', 'rs/web', '--limits=cpu=lots']);
	t.deepEqual([wrong.code, wrong.out], [1, '']);
	t.regex(wrong.err, /limits/);
});

test('set --local changes what files say, without a cluster', async t => {
	const {troupe} = await openCluster(t);
	const input = JSON.stringify(set);
	const {code, out} = await troupe(['set', 'image', '-f', '-', 'web=web:7', '--local', '-o', 'json', '--kubeconfig', '/nowhere'], {input});
	t.is(code, 0);
	const {kind, spec} = JSON.parse(out) as typeof set & {kind: string; spec: {template: {spec: typeof template}}};
	t.is(kind, 'ReplicaSet');
	t.deepEqual(
		spec.template.spec.containers.map(({image}) => image),
		['web:7', 'log:1'],
	);
	t.is(
		(await troupe(['set', 'env', '-f', '-', '--list', '--local', '-c', 'web'], {input})).out,
		'# replicaset.apps/web, container web\nA=1\nB=2\n',
	);
	const bad = await troupe(['set', 'image', '-f', '-', 'web=x', '--local'], {
		input: 'kind: Pod\napiVersion: v1\nmetadata: {name: a}\nspec: {}\n',
	});
	t.regex(bad.err, /stdin:4:\d+: spec\.containers: is required/);
});

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
	[[], /set what\? image, env, resources/],
	[['images', 'rs/web', 'web=x'], /set what\? image, env, resources/],
	[['image', 'rs/web'], /set which image\?/],
	[['image', 'rs/web', 'web-'], /the container web needs an image/],
	[['image', 'rs/web', 'web='], /the container web needs an image/],
	[['image', 'rs/web', 'web=a', 'web=b'], /the key "web" is given twice/],
	[['image', 'rs/web', 'web=a', '-c', 'web'], /--container is no flag of set image/],
	[['env', 'rs/web'], /set which variable\?/],
	[['env', 'rs/web', 'A=b', 'log'], /"log" must be KEY=VALUE or KEY-/],
	[['env', 'rs/web', '--limits=cpu=1', 'A=b'], /--limits is no flag of set env/],
	[['env', 'rs/web', '--from=pod/web'], /--from is configmap\/NAME or secret\/NAME, got pod\/web/],
	[['resources', 'rs/web'], /set which resources\?/],
	[['resources', 'rs/web', 'cpu=1'], /amounts go with --limits and --requests/],
	[['resources', 'rs/web', '--limits=cpu'], /--limits must be NAME=AMOUNT with commas.*got "cpu"/],
	[['resources', 'rs/web', '--limits=cpu=1,cpu=2'], /--limits names cpu twice/],
	[['image', 'rs', 'web=x'], /set image of which replicasets\?/],
	[['image', 'rs/web', 'web=x', '--local'], /--local changes what the files of -f say/],
];

test('set refuses what makes no sense', async t => {
	const {troupe} = await openCluster(t);
	for (const [words, says] of wrong) {
		const {code, out, err} = await troupe(['set', ...words]);
		t.deepEqual([code, out], [2, ''], words.join(' '));
		t.regex(err, says);
	}
});

test('containers are found in a pod, in what makes pods, and in what makes such', t => {
	const containers = [{name: 'a', image: '1'}];
	const change = {names: ['*'], changed: (container: JsonObject) => ({...container, image: '2'})};
	const changed = [{name: 'a', image: '2'}];
	t.deepEqual(containersPatch({spec: {containers}}, 'x', change), {spec: {containers: changed}});
	t.deepEqual(containersPatch({spec: {template: {spec: {containers}}}}, 'x', change), {spec: {template: {spec: {containers: changed}}}});
	const cron = {spec: {jobTemplate: {spec: {template: {spec: {containers}}}}}};
	t.deepEqual(containersPatch(cron, 'x', change), {spec: {jobTemplate: {spec: {template: {spec: {containers: changed}}}}}});
	t.is(containersPatch(cron, 'x', {names: ['*'], changed: container => container}), undefined);
	t.throws(() => containersPatch({data: {}}, 'configmap/x', change), {message: 'configmap/x has no containers'});
});

test('a star in the name of a container stands for anything', t => {
	const object = {spec: {containers: ['web', 'web-log', 'log'].map(name => ({name}))}};
	const found = (...names: readonly string[]) => containersOf(object, 'pod/x', names).map(({name}) => name);
	t.deepEqual(found('*'), ['web', 'web-log', 'log']);
	t.deepEqual(found('web*'), ['web', 'web-log']);
	t.deepEqual(found('*log'), ['web-log', 'log']);
	t.deepEqual(found('*-*'), ['web-log']);
	t.deepEqual(found('w*b*g', 'log'), ['web-log', 'log']);
	t.throws(() => found('db*'), {message: 'pod/x has no container "db*"; there are web, web-log, log'});
	t.throws(() => found('web*b'), {message: /has no container/});
});
