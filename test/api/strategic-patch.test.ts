// Strategic merge patches: which lists are merged by what, in which order, and the directives.

import test from 'ava';
import fc from 'fast-check';
import {deepEqual} from '../../api/equal.js';
import {limits} from '../../api/limits.js';
import {mergePatch} from '../../api/merge-patch.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {strategicMergePatch} from '../../api/strategic-patch.js';

/** What becomes of the document, or the problems. */
function outcomeOf(document: JsonObject, patch: JsonObject): unknown {
	const done = strategicMergePatch(document, patch);
	return done.ok ? done.value : done.error.message;
}

const pod = (spec: JsonObject): JsonObject => ({kind: 'Pod', spec});
const names = (...all: readonly string[]): JsonObject[] => all.map(name => ({name}));
/** A patch of the containers a, b and c. */
const ofContainers = (containers: readonly Json[], more: JsonObject = {}) =>
	[pod({containers: names('a', 'b', 'c')}), {spec: {containers, ...more}}] as const;

type Case = readonly [title: string, document: JsonObject, patch: JsonObject, result: JsonObject];
const containerCase = (title: string, [document, patch]: readonly [JsonObject, JsonObject], ...containers: readonly Json[]): Case => [
	title,
	document,
	patch,
	pod({containers}),
];

const web = {
	name: 'web',
	image: 'nginx:1',
	env: [
		{name: 'A', value: '1'},
		{name: 'B', value: '2'},
	],
	ports: [{containerPort: 80, name: 'http'}],
};

const cases: readonly Case[] = [
	['members are merged and null takes one away', pod({a: 1, b: {c: 1, d: 2}}), {spec: {a: null, b: {c: 3}}}, pod({b: {c: 3, d: 2}})],
	containerCase(
		'an item that is there is merged where it is',
		ofContainers([{name: 'b', image: 'x'}]),
		{name: 'a'},
		{name: 'b', image: 'x'},
		{name: 'c'},
	),
	containerCase('a new item comes before those that the patch does not name', ofContainers([{name: 'd'}]), ...names('d', 'a', 'b', 'c')),
	containerCase('items of the patch come in its order', ofContainers(names('c', 'a')), ...names('b', 'c', 'a')),
	containerCase('a list that names all is the order', ofContainers(names('c', 'd', 'b', 'a')), ...names('c', 'd', 'b', 'a')),
	containerCase('an empty list changes nothing', ofContainers([]), ...names('a', 'b', 'c')),
	containerCase('an item is deleted', ofContainers([{name: 'b', $patch: 'delete'}]), ...names('a', 'c')),
	containerCase('an item that is not there is deleted, too', ofContainers([{name: 'x', $patch: 'delete'}]), ...names('a', 'b', 'c')),
	containerCase(
		'an item may say that it is merged',
		ofContainers([{name: 'b', image: 'x', $patch: 'merge'}]),
		{name: 'a'},
		{name: 'b', image: 'x'},
		{name: 'c'},
	),
	containerCase(
		'a list is replaced',
		ofContainers([{$patch: 'replace'}, {name: 'd'}, {name: 'b', image: 'x'}]),
		{name: 'd'},
		{name: 'b', image: 'x'},
	),
	containerCase(
		'an order sorts what it names, and the rest stays among it',
		ofContainers([{name: 'd'}], {'$setElementOrder/containers': names('c', 'd', 'a')}),
		...names('b', 'c', 'd', 'a'),
	),
	containerCase(
		'an order alone sorts what is there',
		[pod({containers: names('a', 'b', 'c')}), {spec: {'$setElementOrder/containers': names('c', 'b', 'a', 'x')}}],
		...names('c', 'b', 'a'),
	),
	[
		'what is merged goes on inside of items',
		pod({containers: [web]}),
		{
			spec: {
				containers: [
					{
						name: 'web',
						image: 'nginx:2',
						env: [
							{name: 'B', $patch: 'delete'},
							{name: 'A', value: '3'},
						],
						ports: [{containerPort: 443}],
					},
				],
			},
		},
		pod({
			containers: [
				{...web, image: 'nginx:2', env: [{name: 'A', value: '3'}], ports: [{containerPort: 443}, {containerPort: 80, name: 'http'}]},
			],
		}),
	],
	[
		'command, args and tolerations are replaced',
		pod({tolerations: [{key: 'a'}], containers: [{name: 'a', args: ['1', '2']}]}),
		{
			spec: {tolerations: [{key: 'b'}], containers: [{name: 'a', args: ['3']}]},
		},
		pod({tolerations: [{key: 'b'}], containers: [{name: 'a', args: ['3']}]}),
	],
	[
		'taints are replaced',
		{kind: 'Node', spec: {taints: [{key: 'a'}, {key: 'b'}]}},
		{spec: {taints: [{key: 'b'}]}},
		{kind: 'Node', spec: {taints: [{key: 'b'}]}},
	],
	[
		'finalizers are a set',
		{kind: 'Pod', metadata: {finalizers: ['a', 'b']}},
		{metadata: {finalizers: ['c', 'b']}},
		{kind: 'Pod', metadata: {finalizers: ['c', 'a', 'b']}},
	],
	[
		'finalizers are taken away by their values',
		{kind: 'Pod', metadata: {finalizers: ['a', 'b', 'c']}},
		{
			metadata: {'$deleteFromPrimitiveList/finalizers': ['a', 'x'], finalizers: ['d'], '$setElementOrder/finalizers': ['c', 'd']},
		},
		{kind: 'Pod', metadata: {finalizers: ['b', 'c', 'd']}},
	],
	[
		'owners are told apart by uid',
		{
			kind: 'Pod',
			metadata: {
				ownerReferences: [
					{uid: '1', name: 'a'},
					{uid: '2', name: 'b'},
				],
			},
		},
		{
			metadata: {
				ownerReferences: [
					{uid: '1', $patch: 'delete'},
					{uid: '2', name: 'c'},
				],
			},
		},
		{kind: 'Pod', metadata: {ownerReferences: [{uid: '2', name: 'c'}]}},
	],
	['an object is replaced', pod({a: 1, b: {c: 1, d: 2}}), {spec: {b: {$patch: 'replace', e: 3}}}, pod({a: 1, b: {e: 3}})],
	['an object is emptied', pod({a: 1, b: {c: 1}}), {spec: {b: {$patch: 'delete'}}}, pod({a: 1, b: {}})],
	[
		'only keys that are retained stay',
		{kind: 'Deployment', spec: {strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: 1}}}},
		{
			spec: {strategy: {$retainKeys: ['type'], type: 'Recreate', rollingUpdate: null}},
		},
		{kind: 'Deployment', spec: {strategy: {type: 'Recreate'}}},
	],
	[
		'a volume changes its source',
		pod({volumes: [{name: 'v', emptyDir: {}}, {name: 'w'}]}),
		{
			spec: {volumes: [{name: 'v', $retainKeys: ['name', 'configMap'], configMap: {name: 'c'}}]},
		},
		pod({volumes: [{name: 'v', configMap: {name: 'c'}}, {name: 'w'}]}),
	],
	[
		'directives of what is new are followed and not kept',
		{kind: 'Deployment', spec: {}},
		{
			spec: {
				strategy: {$retainKeys: ['type'], type: 'Recreate', rollingUpdate: null},
				template: {
					$patch: 'replace',
					spec: {'$setElementOrder/containers': names('a', 'b'), containers: [{name: 'x', $patch: 'delete'}, ...names('a', 'b')]},
				},
			},
		},
		{kind: 'Deployment', spec: {strategy: {type: 'Recreate'}, template: {spec: {containers: names('a', 'b')}}}},
	],
	[
		'of items with one key the first is merged, and all are deleted',
		{kind: 'Service', spec: {ports: [{port: 53, protocol: 'TCP'}, {port: 53, protocol: 'UDP'}, {port: 80}]}},
		{
			spec: {
				ports: [
					{port: 53, name: 'dns'},
					{port: 80, $patch: 'delete'},
				],
			},
		},
		{
			kind: 'Service',
			spec: {
				ports: [
					{port: 53, protocol: 'TCP', name: 'dns'},
					{port: 53, protocol: 'UDP'},
				],
			},
		},
	],
	[
		'conditions are told apart by type',
		{
			kind: 'Node',
			status: {
				conditions: [
					{type: 'Ready', status: 'True'},
					{type: 'Full', status: 'False'},
				],
			},
		},
		{
			status: {conditions: [{type: 'Ready', status: 'Unknown'}]},
		},
		{
			kind: 'Node',
			status: {
				conditions: [
					{type: 'Ready', status: 'Unknown'},
					{type: 'Full', status: 'False'},
				],
			},
		},
	],
	[
		'the selector of a budget is replaced',
		{kind: 'PodDisruptionBudget', spec: {selector: {matchLabels: {a: 'b'}}}},
		{spec: {selector: {matchLabels: {c: 'd'}}}},
		{kind: 'PodDisruptionBudget', spec: {selector: {matchLabels: {c: 'd'}}}},
	],
	['what is no list yet becomes one', pod({containers: 'none'}), {spec: {containers: names('a')}}, pod({containers: names('a')})],
	['a list may be taken away', pod({volumes: names('a')}), {spec: {volumes: null, '$setElementOrder/volumes': []}}, pod({})],
];

for (const [title, document, patch, result] of cases)
	test(`strategic patch: ${title}`, t => {
		const before = JSON.stringify([document, patch]);
		t.deepEqual(outcomeOf(document, patch), result);
		t.is(JSON.stringify([document, patch]), before);
	});

const refused: readonly (readonly [title: string, patch: JsonObject, says: RegExp])[] = [
	['an unknown word', {spec: {$patch: 'add'}}, /^spec\["\$patch"\]: must be merge, replace or delete, got "add"$/],
	['an unknown directive', {spec: {$move: 1}}, /^spec\["\$move"\]: is no directive/],
	['an item without its key', {spec: {containers: [{image: 'x'}]}}, /^spec\.containers\[0\]: has no name, by which items are told apart$/],
	['an item that is none', {spec: {containers: ['a']}}, /^spec\.containers\[0\]: has no name/],
	['a key that is an object', {spec: {containers: [{name: {}}]}}, /^spec\.containers\[0\]: has no name/],
	['to delete no one', {spec: {containers: [{$patch: 'delete'}]}}, /^spec\.containers\[0\]: has no name/],
	['an object in a set', {metadata: {finalizers: [{}]}}, /^metadata\.finalizers\[0\]: must be a plain value, got an object$/],
	[
		'an order of a list that is replaced',
		{spec: {'$setElementOrder/tolerations': []}},
		/setElementOrder\/tolerations"\]: is only for lists that are merged/,
	],
	['an order that is none', {spec: {'$setElementOrder/containers': 'a'}}, /setElementOrder\/containers"\]: must be a list, got "a"/],
	[
		'an order that names not all',
		{spec: {containers: names('a', 'b'), '$setElementOrder/containers': names('b')}},
		/spec\.containers: must have its items as \$setElementOrder/,
	],
	[
		'another order than its own',
		{spec: {containers: names('a', 'b'), '$setElementOrder/containers': names('b', 'a')}},
		/spec\.containers: must have its items as \$setElementOrder/,
	],
	['values taken from a list of objects', {spec: {'$deleteFromPrimitiveList/containers': ['a']}}, /is only for lists that are merged/],
	['retained keys that are no list', {spec: {$retainKeys: 'a'}}, /^spec\["\$retainKeys"\]: must be a list, got "a"/],
	['a key that is set and not retained', {spec: {$retainKeys: ['a'], b: 1}}, /^spec\["\$retainKeys"\]: must name "b", too$/],
];

for (const [title, patch, says] of refused)
	test(`strategic patch refuses ${title}`, t => {
		t.regex(String(outcomeOf(pod({containers: names('a', 'b')}), patch)), says);
	});

test('problems of a strategic patch are told all at once, and no more than can be read', t => {
	const done = strategicMergePatch(pod({}), {spec: {$move: 1, containers: [{}, {name: 'a', ports: [{}]}]}});
	t.deepEqual(done.ok ? [] : (done.error.details['problems'] as {path: string}[]).map(({path}) => path), [
		'spec["$move"]',
		'spec.containers[0]',
		'spec.containers[1].ports[0]',
	]);
	const many = strategicMergePatch(pod({}), {spec: {containers: Array.from({length: 100_000}, () => 1)}});
	t.is(many.ok ? 0 : (many.error.details['problems'] as unknown[]).length, limits.problemsShown);
});

// ---- properties -----------------------------------------------------------------------------------------------------------

const plain = (value: unknown): boolean =>
	!Array.isArray(value) && (typeof value !== 'object' || value === null || Object.values(value).every(plain));

test('a strategic patch without lists and directives is a merge patch', t => {
	const member = fc.dictionary(
		fc.string().filter(key => !key.startsWith('$') && key !== '__proto__'),
		fc.jsonValue().filter(plain),
	);
	const safe = (value: unknown): boolean => !JSON.stringify(value).includes('"$') && !JSON.stringify(value).includes('__proto__');
	t.notThrows(() =>
		fc.assert(
			fc.property(member.filter(safe), member.filter(safe), (spec, change) => {
				const document = pod(spec);
				return deepEqual(outcomeOf(document, {spec: change}), mergePatch(document, {spec: change as JsonObject}));
			}),
			{numRuns: 1_000},
		),
	);
});

test('a list that is merged has every item once: those of the patch in its order, the others in theirs', t => {
	const list = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'));
	t.notThrows(() =>
		fc.assert(
			fc.property(list, list, list, (before, written, gone) => {
				const deleted = gone.filter(name => !written.includes(name));
				const items = [...names(...written), ...deleted.map(name => ({name, $patch: 'delete'}))];
				const done = strategicMergePatch(pod({containers: names(...before)}), {spec: {containers: items}});
				if (!done.ok) return false;
				const after = ((done.value['spec'] as JsonObject)['containers'] as {name: string}[]).map(({name}) => name);
				const others = before.filter(name => !written.includes(name) && !deleted.includes(name));
				return (
					deepEqual(
						after.filter(name => written.includes(name)),
						written,
					) &&
					deepEqual(
						after.filter(name => !written.includes(name)),
						others,
					) &&
					after.length === written.length + others.length
				);
			}),
			{numRuns: 2_000},
		),
	);
});

test('an item that a patch names again and again is merged only so often', t => {
	const again = (count: number): readonly Json[] => Array.from({length: count}, () => ({name: 'a', tty: true}));
	const members = Object.fromEntries(Array.from({length: 5_000}, (_, at) => [`x${at}`, at]));
	const env = Array.from({length: 5_000}, (_, at) => ({name: `E${at}`}));
	const tooMuch = /^the patch merges more than 250000 members and items/;
	t.regex(String(outcomeOf(...ofContainers([{name: 'a', ...members}, ...again(5_000)]))), tooMuch);
	t.regex(
		String(outcomeOf(...ofContainers([{name: 'a', env}, ...Array.from({length: 5_000}, () => ({name: 'a', env: names('E1')}))]))),
		tooMuch,
	);
	t.true(isObject(outcomeOf(...ofContainers([{name: 'a', ...members, env}, ...again(40)]))));
});

test('no JSON makes a strategic patch throw, and a refusal has a reason', t => {
	const key = fc.constantFrom(
		'metadata',
		'spec',
		'containers',
		'finalizers',
		'name',
		'$patch',
		'$retainKeys',
		'ports',
		'containerPort',
		'toString',
		'$setElementOrder/containers',
		'$deleteFromPrimitiveList/finalizers',
		'$setElementOrder/constructor',
		'$x',
	);
	const {value} = fc.letrec(tie => ({
		value: fc.oneof(
			{maxDepth: 6},
			fc.constantFrom<Json>(null, 'a', 'b', 'replace', 'delete', 1, true),
			fc.array(tie('value') as fc.Arbitrary<Json>, {maxLength: 4}),
			fc.dictionary(key, tie('value') as fc.Arbitrary<Json>, {maxKeys: 5}),
		),
	}));
	const object = fc.dictionary(key, value as fc.Arbitrary<Json>, {maxKeys: 4});
	t.notThrows(() =>
		fc.assert(
			fc.property(object, object, object, (spec, patch, metadata) => {
				const document = {kind: 'Pod', metadata, spec};
				for (const change of [patch, {spec: patch}, {spec: {containers: [patch, patch]}}]) {
					const done = strategicMergePatch(document, change);
					if (!done.ok && done.error.message === '') return false;
				}
				return true;
			}),
			{numRuns: 3_000},
		),
	);
});
