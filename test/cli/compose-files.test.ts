// Compose files as the command line reads them: with what stands beside them, and told by file, line and column.

import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {Readable} from 'node:stream';
import test, {type ExecutionContext} from 'ava';
import {faultText, placeText} from '../../cli/manifests/faults.js';
import {readManifests} from '../../cli/manifests/manifest-files.js';
import {folder} from './_rig.js';

async function reading(t: ExecutionContext, files: Readonly<Record<string, string>>, names: readonly string[] = ['compose.yaml']) {
	const dir = path.join(await folder(t), 'shop');
	for (const [name, text] of Object.entries(files)) {
		await mkdir(path.dirname(path.join(dir, name)), {recursive: true});
		await writeFile(path.join(dir, name), text);
	}
	const read = await readManifests(
		names.map(name => path.join(dir, name)),
		Readable.from([]),
		{environment: {SHELL_HAS: 'it'}},
	);
	return {
		...read,
		faults: read.faults.map(fault => faultText(fault).replaceAll(`${dir}/`, '')),
		notes: (read.notes ?? []).map(({place, message}) => `${placeText(place)}: ${message}`.replaceAll(`${dir}/`, '')),
		container: (at: number) =>
			(read.documents[at]?.value as {spec: {template: {spec: {containers: readonly object[]}}}}).spec.template.spec.containers[0],
	};
}

test('a compose file is read with .env, files of variables, and configs beside it', async t => {
	const {faults, documents, container} = await reading(t, {
		'.env': 'TAG=3\nSHELL_HAS=not it\n',
		'more.env': 'A=1\nB=${SHELL_HAS}\n',
		'site.conf': 'listen\n',
		'compose.yaml':
			'services:\n  web:\n    image: "web:${TAG}"\n    env_file: more.env\n    environment: {C: $SHELL_HAS, D: }\n    configs: [site]\n    volumes: ["./there:/a", "./gone:/b", "data:/c"]\nvolumes:\n  data:\nconfigs:\n  site: {file: site.conf}\n',
		'there/file': '',
	});
	t.deepEqual(faults, []);
	t.deepEqual(
		documents.map(({value}) => value['kind']),
		['PersistentVolumeClaim', 'ConfigMap', 'Service', 'StatefulSet'],
	);
	t.like(documents[1]?.value, {data: {site: 'listen\n'}});
	t.like(container(3), {
		image: 'web:3',
		env: [
			{name: 'A', value: '1'},
			{name: 'B', value: 'it'},
			{name: 'C', value: 'it'},
		],
	});
	const {spec} = documents[3]?.value as {spec: {template: {spec: {volumes: readonly {hostPath?: object}[]}}}};
	t.deepEqual(
		spec.template.spec.volumes.map(({hostPath}) => hostPath !== undefined && 'type' in hostPath),
		[false, true, false, false],
	);
	t.deepEqual([...new Set(documents.map(({project}) => project))], ['shop']);
});

test('what is wrong is told where it is, also behind anchors and merge keys; what is another way is a note', async t => {
	const {faults, documents} = await reading(t, {
		'compose.yaml':
			'x-common: &common\n  image: web\n  devices: [/dev/null]\nservices:\n  web:\n    <<: *common\n    ports:\n      - "80:80"\n      - "x"\n  db:\n    image: $NAME\n    env_file: [none.env]\n',
	});
	t.deepEqual(faults, [
		'compose.yaml:9:9: services.web.ports[1]: must be PORT, HOST:PORT or IP:HOST:PORT, a PORT from 1 to 65535 or a range of at most 1000 such as 3000-3005, with /udp behind it if one likes, got "x"',
		'compose.yaml:3:3: services.web.devices: cannot be said of a pod: devices cannot be given: privileged gives all',
		'compose.yaml:12:16: services.db.env_file[0]: "none.env" cannot be read: there is no such file',
	]);
	t.deepEqual(documents, []);
	const {notes} = await reading(t, {'compose.yaml': 'services:\n  My_App:\n    image: "a${NAME}"\n'});
	t.deepEqual(notes, [
		'compose.yaml:1:1: the variable NAME is not set: nothing stands in its place',
		'compose.yaml:2:3: services.My_App: is called my-app: names of objects are DNS labels',
	]);
});

test('merge keys of what is no map, and files of version 1, are told where they are', async t => {
	const merges = await reading(t, {
		'compose.yaml':
			'x-l: &l [a]\nx-m: &m {image: x}\nservices:\n  a:\n    <<: *l\n    image: x\n  b:\n    <<: [*m, text]\n  c:\n    <<:\n    image: x\n  d:\n    <<: [*m, {tty: true}]\n  e: {"<<": text}\n',
	});
	const what = 'the merge key << takes a map, or a list of maps';
	t.deepEqual(merges.faults, [`compose.yaml:5:5: ${what}`, `compose.yaml:8:5: ${what}`, `compose.yaml:10:5: ${what}`]);
	const first = await reading(t, {'compose.yaml': 'web:\n  image: x\n  links: [db]\ndb:\n  build: .\n'});
	t.deepEqual(first.faults, [
		'compose.yaml:1:1: is a compose file of version 1: write what it has below "services:", indented, and it is read',
	]);
});

test('several compose files are not joined; beside manifests one is read', async t => {
	const compose = 'services: {web: {image: web}}\n';
	const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
	const two = await reading(t, {'a.yaml': compose, 'b.yaml': compose}, ['a.yaml', 'b.yaml']);
	t.deepEqual(two.faults, ['b.yaml: is a compose file, as a.yaml is: several are not joined; give one at a time']);
	const one = await reading(t, {'a.yaml': map, 'b.yaml': compose}, ['.']);
	t.deepEqual([one.faults, one.documents.map(({value}) => value['kind'])], [[], ['ConfigMap', 'Service', 'Deployment']]);
	const wrong = await reading(t, {'compose.yaml': compose, '.env': 'fine=1\nnot this\n'});
	t.deepEqual(wrong.faults, ['.env:2:1: must be KEY=VALUE']);
});

test('a field of an object is found where the compose file has it', async t => {
	const {documents} = await reading(t, {'compose.yaml': 'services:\n  web:\n    image: web\n    environment:\n      A: b\n'});
	const document = documents[1];
	t.is(document?.spelled?.('spec.template.spec.containers[0].env[0].name'), 'services.web.environment.A');
	t.like(document?.locate('spec.template.spec.containers[0].env[0].name'), {line: 5, column: 7});
});
