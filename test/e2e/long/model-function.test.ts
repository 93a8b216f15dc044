// A function with a model: the language of a text, by Google's Compact Language Detector 3 (a neural network, compiled to WebAssembly), uploaded with
// all that it requires, 7 MB; by the command, over HTTP, by MQTT, and as one of three functions of a workflow.

import {cpSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import type {Run} from '../../../api/kinds/run.js';
import {followObjects} from '../../../bench/rigs/cluster/waiting.js';
import {openEar} from '../_ear.js';
import {call, deploy, valueOf} from '../_functions.js';
import {openFileHome} from '../_rig.js';

const {cluster} = openFileHome(test);

const packages = [
	'cld3-asm',
	'emscripten-wasm-loader',
	'getroot',
	'nanoid',
	'normalize-path',
	'remove-trailing-separator',
	'tslib',
	'unixify',
];

const code = `import {loadModule} from 'cld3-asm';

// Once for an instance, before it takes calls.
const detector = (await loadModule()).create(0, 2_000);

export default ({text}) => {
	const {language, probability, is_reliable} = detector.findLanguage(text);
	return {language, probability: Math.round(probability * 100) / 100, isSure: is_reliable};
};
`;

const texts = {
	en: 'The quick brown fox jumps over the lazy dog, and nobody in the village has ever seen it sleep.',
	de: 'Guten Morgen, wie geht es Ihnen heute? Ich hoffe, dass Sie gut geschlafen haben.',
	fr: 'Bonjour, comment allez-vous ? Il fait très beau aujourd’hui dans toute la région.',
	es: 'Buenos días, ¿cómo está usted? Hoy hace muy buen tiempo en toda la región.',
	ja: '今日はとても良い天気ですね。公園まで一緒に散歩に行きませんか。',
	ru: 'Доброе утро, как у вас дела? Сегодня во всей области очень хорошая погода.',
} as const;

const languageOf = (value: unknown): string => (value as {language: string}).language;

test.serial('texts are told apart, by the command and many at once over HTTP', async t => {
	t.timeout(120_000);
	for (const name of packages) {
		const target = path.join(cluster.folder, 'language', 'node_modules', name);
		mkdirSync(path.dirname(target), {recursive: true});
		cpSync(path.join('node_modules', name), target, {recursive: true});
	}
	await deploy(cluster, 'language', code, {concurrency: 4, max: 2});
	const {language, isSure} = JSON.parse(await cluster.fine('execute', 'language', JSON.stringify({text: texts.de}))) as {
		language: string;
		isSure: boolean;
	};
	t.deepEqual([language, isSure], ['de', true]);
	const wanted = Array.from({length: 10}, () => Object.keys(texts) as (keyof typeof texts)[]).flat();
	const answers = await Promise.all(wanted.map(each => call(cluster, 'language', {text: texts[each]})));
	t.deepEqual(
		answers.map(answer => languageOf(valueOf(answer))),
		wanted,
	);
});

test.serial('a text that comes by MQTT is answered there', async t => {
	const ear = await openEar(t, cluster);
	await ear.listen('troupe/v1/replies/admin/+');
	const params = {text: texts.ja};
	await ear.client.publishAsync('troupe/v1/functions/default/language/invoke', JSON.stringify({id: 'ja', params}), {qos: 1});
	const {text} = await ear.until('its answer', heard => heard.find(({topic}) => topic === 'troupe/v1/replies/admin/ja'));
	t.like(JSON.parse(text), {id: 'ja', status: 200, answer: {language: 'ja'}});
});

test.serial('three functions are one workflow: texts are cleaned, each is told by the model, and what came is counted', async t => {
	await deploy(cluster, 'clean', `export default ({texts}) => ({texts: texts.map(text => ({text: text.trim()}))});\n`);
	await deploy(
		cluster,
		'count',
		`export default ({found}) => {
	const counts = {};
	for (const {language} of found) counts[language] = (counts[language] ?? 0) + 1;
	return counts;
};
`,
	);
	const definition = {
		StartAt: 'Clean',
		States: {
			Clean: {Type: 'Task', Resource: 'clean', Next: 'Tell'},
			Tell: {
				Type: 'Map',
				ItemsPath: '$.texts',
				ItemProcessor: {StartAt: 'TellOne', States: {TellOne: {Type: 'Task', Resource: 'language', End: true}}},
				ResultPath: '$.found',
				Next: 'Count',
			},
			Count: {Type: 'Task', Resource: 'count', End: true},
		},
	};
	await cluster.apply(
		{apiVersion: 'troupe.dev/v1', kind: 'Workflow', metadata: {name: 'languages'}, spec: {definition}},
		{
			apiVersion: 'troupe.dev/v1',
			kind: 'Run',
			metadata: {name: 'languages-1'},
			spec: {workflow: 'languages', input: {texts: [...Object.values(texts), ` ${texts.de}  `]}},
		},
	);
	const runs = await followObjects(await cluster.client(), 'runs');
	t.teardown(runs.close);
	const {status} = await runs.until('the run is over', objects => {
		const run = objects.get('languages-1') as Run | undefined;
		return run?.status?.completionTime === undefined ? undefined : run;
	});
	t.deepEqual(status?.output, {en: 1, de: 2, fr: 1, es: 1, ja: 1, ru: 1});
});
