import test from 'ava';
import {limits} from '../../api/limits.js';
import {jsonFault} from '../../api/json-fault.js';
import {aPod, collectionPath} from './cluster.js';
import {mergeType, openDoor, type StatusBody} from './door.js';

const pods = collectionPath('pods', 'default');

test('a body that is no JSON is told by its place, and nothing of it is shown', async t => {
	const {json} = await openDoor(t);
	const refused = async (body: string) => (await json<StatusBody>(400, 'POST', pods, body)).message;
	t.is(
		await refused('{\n  "password": geheim\n}'),
		'the body is no JSON: line 2, column 15, found something else where something else belongs',
	);
	t.is(await refused('{"a": 1,}'), 'the body is no JSON: line 1, column 9, found "}" where something else belongs');
	t.is(await refused('{"a": "geheim'), 'the body is no JSON: line 1, column 14, found the end where something else belongs');
	t.regex(await refused('[1]'), /must be an object, found a list/);
	t.regex(await refused('"x"'), /must be an object, found a string/);
	t.regex(await refused('null'), /found null/);
	t.regex(await refused(''), /the body is empty/);
	t.false((await refused('a: geheim: [')).includes('geheim'));
});

test('a key that is given twice is told by both places, and nothing of its values is shown', async t => {
	const {json} = await openDoor(t);
	const refused = async (body: string) => (await json<StatusBody>(400, 'POST', pods, body)).message;
	t.is(await refused('{"a": "geheim",\n"a": 2}'), 'the body gives a key twice: line 2, column 1, first in line 1, column 2');
	t.regex(await refused('{"a": [{"b": 1, "\\u0062": 1}]}'), /gives a key twice: line 1, column 17, first in line 1, column 9$/);
});

test('a body that is no YAML is told by its place, and nothing of it is shown', async t => {
	const {json} = await openDoor(t);
	const yaml = {'content-type': 'application/yaml'};
	const refused = async (body: string | Buffer) => (await json<StatusBody>(400, 'POST', pods, body, yaml)).message;
	const message = await refused('a: 1\npassword: "geheim');
	t.regex(message, /line 2, column \d+/);
	t.false(message.includes('geheim'));
	t.regex(await refused('a: 1\n---\nb: 2\n'), /one YAML document is wanted, found 2/);
	t.regex(await refused('a: *nothing\n'), /has an alias of nothing before it: line 1, column 4$/);
	t.regex(await refused(`a: ${'['.repeat(20_000)}`), /nested deeper than 64 levels/);
	const bomb = `a: &a [${'x,'.repeat(50)}]\n${'bcdefghij'
		.split('')
		.map((key, at) => `${key}: &${key} [${`*${'abcdefghij'.charAt(at)},`.repeat(50)}]`)
		.join('\n')}\n`;
	t.regex(await refused(bomb), /aliases of the body stand for too much/);
	t.regex(await refused('a: .nan\n'), /not finite/);
	t.regex(await refused(Buffer.from([0xff, 0xfe, 0x41])), /no UTF-8/);
});

test('nesting and prototypes harm nobody', async t => {
	const {json, bugs, cluster} = await openDoor(t);
	const depth = 100_000;
	const deep = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
	cluster.pod('web');
	for (const [method, path, headers] of [
		['POST', pods, {}],
		['PATCH', `${pods}/web`, mergeType],
		['PUT', `${pods}/web`, {}],
		['DELETE', `${pods}/web`, {}],
		['POST', '/troupe/v1/normalise', {}],
	] as const) {
		t.regex((await json<StatusBody>(400, method, path, deep, headers)).message, /nested deeper than/, method);
		t.regex((await json<StatusBody>(400, method, path, '{"__proto__":{"polluted":1}}', headers)).message, /__proto__/, method);
		t.regex((await json<StatusBody>(400, method, path, '{"spec":{"a":[{"__proto__":null}]}}', headers)).message, /__proto__/, method);
	}
	t.is(({} as {polluted?: number}).polluted, undefined);
	t.deepEqual(bugs, []);
});

test('a body that is too large is refused, somewhat and far', async t => {
	const {call, json} = await openDoor(t);
	const filler = 'x'.repeat(limits.requestBodyBytes);
	const refused = await json<StatusBody>(413, 'POST', pods, {...aPod('web'), filler});
	t.is(refused.reason, 'RequestEntityTooLarge');
	t.is((await call('GET', pods)).status, 200);
});

test('metadata of the wrong shape is a 422 with its field', async t => {
	const {json} = await openDoor(t);
	const refused = async (metadata: unknown) =>
		(await json<StatusBody>(422, 'POST', pods, {...aPod('x'), metadata})).details?.causes?.[0]?.field;
	t.is(await refused(5), 'metadata');
	t.is(await refused([]), 'metadata');
	t.is(await refused({name: 5}), 'metadata.name');
	t.is(await refused({name: 'a', namespace: {}}), 'metadata.namespace');
	const {metadata: _metadata, ...bare} = aPod('x');
	const {json: put, cluster} = await openDoor(t);
	cluster.pod('web');
	await put(200, 'PUT', `${pods}/web`, bare);
	await put(200, 'PUT', `${pods}/web`, {...bare, metadata: null});
});

test('the place of a fault is found in every sort of broken JSON, and none in sound JSON', t => {
	const at = (text: string) => {
		const fault = jsonFault(text);
		return fault === undefined ? undefined : `${fault.line}:${fault.column}`;
	};
	for (const sound of ['{}', '[]', ' {"a":[1,-2.5e+3,true,false,null,"x\\u00e9\\n",{}]}\n', '0', '"x"', '[[],[{}]]']) {
		JSON.parse(sound);
		t.is(at(sound), undefined, sound);
	}
	for (const [text, place] of [
		['', '1:1'],
		['{', '1:2'],
		['{"a"}', '1:5'],
		['{"a":}', '1:6'],
		['{a:1}', '1:2'],
		['[1,]', '1:4'],
		['[1 2]', '1:4'],
		['[01]', '1:3'],
		['{"a":1}}', '1:8'],
		['[\n"x\ny"]', '2:3'],
		['"\\x"', '1:2'],
		['[1}', '1:3'],
		['nul', '1:1'],
		['{"a":1,"b"\n:2,\n,}', '3:1'],
	] as const) {
		t.throws(() => void JSON.parse(text), {instanceOf: SyntaxError}, text);
		t.is(at(text), place, text);
	}
});
