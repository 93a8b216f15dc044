// `troupe apply` and `convert` of compose files, against a cluster.

import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {contentsAnnotation, projectLabel} from '../../api/compose/convert.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import {folder, openCluster} from './_rig.js';

const two =
	'services:\n  web:\n    image: web\n    ports: ["80:80"]\n    depends_on: [db]\n  db:\n    image: db\n    volumes: ["data:/d"]\nvolumes:\n  data:\n';

async function opened(t: ExecutionContext) {
	const cluster = await openCluster(t);
	const dir = await folder(t);
	const applied = async (text: string, project = 'shop', ...more: readonly string[]) => {
		const file = path.join(dir, project, 'compose.yaml');
		await mkdir(path.dirname(file), {recursive: true});
		await writeFile(file, text);
		const ran = await cluster.troupe(['apply', '-f', file, ...more]);
		return {...ran, err: ran.err.replaceAll(`${dir}/`, '').replace(/^warning: .*\n/gm, '')};
	};
	return {...cluster, dir, applied};
}

test('a compose file is applied, a second time without a change, and what it has no more is named', async t => {
	const {applied, cluster} = await opened(t);
	const created = ['persistentvolumeclaim/data', 'service/web', 'deployment.apps/web', 'service/db', 'statefulset.apps/db'];
	t.deepEqual(await applied(two), {code: 0, out: created.map(name => `${name} created\n`).join(''), err: ''});
	t.deepEqual(await applied(two), {code: 0, out: created.map(name => `${name} unchanged\n`).join(''), err: ''});
	t.is(cluster.control.index.get('deployments/default/web')?.metadata.labels?.[projectLabel], 'shop');
	const one = await applied('services:\n  web:\n    image: web:2\n');
	t.deepEqual([one.code, one.out], [0, 'service/web configured\ndeployment.apps/web configured\n']);
	t.is(
		one.err,
		'note: the project shop has these, and the file has them no more: troupe delete statefulset.apps/db service/db persistentvolumeclaim/data\n',
	);
});

test('other contents of a config or a secret are a rollout of those that have it, and the pods do not tell what they are', async t => {
	const {applied, cluster, dir} = await opened(t);
	const text = 'services:\n  web:\n    image: web\n    secrets: [key]\n  other:\n    image: other\nsecrets:\n  key:\n    file: ./key.txt\n';
	const write = (key: string): Promise<void> => writeFile(path.join(dir, 'shop/key.txt'), key);
	const digest = (): string | undefined =>
		(cluster.control.index.get('deployments/default/web') as Deployment).spec?.template.metadata?.annotations?.[contentsAnnotation];
	await mkdir(path.join(dir, 'shop'));
	await write('hunter2');
	t.is((await applied(text)).code, 0);
	const before = digest();
	t.regex(before ?? '', /^[0-9a-f]{8}$/);
	await write('hunter3');
	t.deepEqual(
		(await applied(text)).out.split('\n').filter(line => line.endsWith(' configured')),
		['secret/key configured', 'deployment.apps/web configured'],
	);
	t.not(digest(), before);
});

test('objects that are of another project, or of none, are left alone', async t => {
	const {applied, troupe, cluster} = await opened(t);
	await troupe(['apply', '-f', '-'], {
		input: 'apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {selector: {a: b}, ports: [{port: 1}]}\n',
	});
	t.is((await applied('services:\n  web:\n    image: web\n', 'other')).code, 0);
	const before = cluster.control.index.version;
	const {code, out, err} = await applied(two);
	t.deepEqual([code, out], [1, '']);
	t.regex(err, /^error: shop\/compose\.yaml:2:3: services\.web: service\/web is there already, and it is of the project other: /m);
	t.regex(err, /^error: shop\/compose\.yaml:6:3: services\.db: service\/db is there already, and it is of no compose file: /m);
	t.is(cluster.control.index.version, before);
});

test('what the cluster refuses is told where the compose file has it', async t => {
	const {applied, cluster} = await opened(t);
	const before = cluster.control.index.version;
	const {code, err} = await applied('services:\n  web:\n    image: " web"\n    environment:\n      9A: b\n');
	t.is(code, 1);
	t.regex(err, /^error: shop\/compose\.yaml:3:5: services\.web\.image: must not begin or end with a space/m);
	t.regex(err, /^error: shop\/compose\.yaml:5:7: services\.web\.environment\["9A"\]: must be letters/m);
	t.is(cluster.control.index.version, before);
});

test('--dry-run -o yaml and convert show the manifests; converted ones can be applied', async t => {
	const {applied, troupe, dir} = await opened(t);
	const shown = await applied(two, 'shop', '--dry-run', '-o', 'yaml');
	t.regex(shown.out, /^kind: List$/m);
	t.regex(shown.out, /troupe\.dev\/depends-on: statefulset\/db/);
	const file = path.join(dir, 'shop/compose.yaml');
	const {code, out, err} = await troupe(['convert', '-f', file]);
	t.deepEqual([code, err], [0, '']);
	t.deepEqual(
		[...out.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind),
		['PersistentVolumeClaim', 'Service', 'Deployment', 'Service', 'StatefulSet'],
	);
	t.is((await troupe(['apply', '-f', '-'], {input: out})).code, 0);
	t.regex((await troupe(['diff', '-f', file])).out, /^$/);
	t.is((await troupe(['delete', '-f', file, '--wait=false'])).code, 0);
	t.is((await troupe(['convert', 'x'])).code, 2);
});
