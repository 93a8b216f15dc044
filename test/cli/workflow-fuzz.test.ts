// Definitions that were changed at random: either something is said against them, or they run to an end, whatever their tasks answer.

import {readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {parse} from 'yaml';
import {rehearse, type Answer} from '../../actors/workflows/rehearsal.js';
import type {Json} from '../../api/object.js';
import {parseIntrinsic} from '../../api/states-language/intrinsic-syntax.js';
import {parsePathText, SyntaxProblem} from '../../api/states-language/path-syntax.js';
import {readDefinition} from '../../api/states-language/validation/definition.js';
import {seededRandom, type Random} from '../../system/time/random.js';
import {root} from '../docs/_pages.js';
import {testTools} from '../api/states-language/_states.js';

const values: readonly Json[] = [
	null,
	true,
	0,
	-1,
	1e21,
	'',
	'$',
	'$.a',
	'$..*',
	'$$',
	'$$.Map.Item.Value',
	'$.list[*]',
	"$['__proto__']",
	'constructor',
	'States.UUID()',
	'States.ALL',
	'x'.repeat(300),
	[],
	{},
	[1, 'a'],
	{a: {b: 1}},
	{list: [1, {a: 2}], n: 3},
];

const pick = <Item>(items: readonly Item[], random: Random): Item | undefined => items[Math.floor(random.next() * items.length)];

const paths = values.filter(value => typeof value === 'string' && value.startsWith('$'));

/** The same with one member or item, somewhere, that is another, gone, or there twice. */
function changed(value: Json, random: Random): Json {
	// Mostly what is right still, and only means something else.
	if (typeof value === 'string' && value.startsWith('$') && random.next() < 0.8) return pick(paths, random) ?? null;
	if (typeof value === 'number' && random.next() < 0.8) return Math.floor(random.next() * 10);
	if (typeof value !== 'object' || value === null || random.next() < 0.1) return pick(values, random) ?? null;
	if (Array.isArray(value)) {
		const items = value as readonly Json[];
		const at = Math.floor(random.next() * items.length);
		const item = items[at];
		if (item === undefined) return [pick(values, random) ?? null];
		return random.next() < 0.1 ? items.toSpliced(at, 1) : items.with(at, changed(item, random));
	}
	const entries = Object.entries(value);
	const at = Math.floor(random.next() * entries.length);
	const entry = entries[at];
	if (entry === undefined) return {a: pick(values, random) ?? null};
	const roll = random.next();
	if (roll < 0.05) return Object.fromEntries(entries.toSpliced(at, 1));
	if (roll < 0.1) return Object.fromEntries([...entries, [pick(entries, random)?.[0] ?? '', entry[1]]]);
	return Object.fromEntries(entries.with(at, [entry[0], changed(entry[1] ?? null, random)]));
}

function answerBy(random: Random): Answer {
	const seconds = Math.floor(random.next() * 100);
	const roll = random.next();
	if (roll < 0.2)
		return {error: {Error: pick(['X', 'States.Timeout', 'States.Runtime', 'CardDeclined', 'Absent'], random) ?? 'X', Cause: 'c'}, seconds};
	return roll < 0.25 ? {silent: true, seconds} : {output: pick(values, random) ?? null, seconds};
}

for (const file of ['order.asl.json', 'media.asl.yaml', 'approval.asl.yaml'])
	test(`${file}, changed at random, is refused or comes to an end`, async t => {
		const whole = parse(await readFile(path.join(root, 'examples/workflows', file), 'utf8')) as Json;
		const counts = {refused: 0, succeeded: 0, failed: 0, silent: 0};
		for (let seed = 1; seed <= 1_000; seed++) {
			const random = seededRandom(seed);
			let definition = whole;
			for (let times = Math.floor(random.next() * 4); times > 0; times--) definition = changed(definition, random);
			const read = readDefinition(definition);
			if (!read.ok) {
				t.true(
					read.problems.every(({message}) => message !== ''),
					`seed ${seed}`,
				);
				counts.refused++;
				continue;
			}
			const input =
				random.next() < 0.5
					? ({
							id: 1,
							customer: {},
							items: [1, 2],
							file: 'f',
							amount: 1,
							currency: 'EUR',
							by: 'a',
							boss: 'b',
							limits: {seconds: 1, encoders: 1},
						} satisfies Json)
					: changed({a: [1]}, random);
			const {ending, frames, tallies} = rehearse({
				definition: read.definition,
				run: {id: 'r', name: 'r', workflow: 'w', input},
				startMs: 0,
				tools: testTools(seed),
				stepsMax: 100_000,
				answer: () => answerBy(random),
			});
			if (ending === undefined) counts.silent++;
			else {
				t.is(frames.size + tallies.size, 0, `seed ${seed}`);
				if (ending.status === 'succeeded') counts.succeeded++;
				else counts.failed++;
			}
		}
		t.log(JSON.stringify(counts));
		t.true(counts.refused > 100 && counts.failed > 100);
	});

test('texts made at random are paths or intrinsics, or refused as none', t => {
	const pieces = [
		'$',
		'$$',
		'.',
		'..',
		'[',
		']',
		'*',
		"'",
		'"',
		'\\',
		'?',
		'(',
		')',
		'@',
		'!',
		'&&',
		'||',
		'==',
		'<',
		',',
		':',
		'-',
		'1',
		'0.5',
		'a',
		'true',
		'null',
		'States.',
		'Format',
		'Array',
		'UUID',
		'{}',
		' ',
		'\u{1f600}',
		'\ud800',
		'__proto__',
	];
	const random = seededRandom(7);
	const taken = {paths: 0, intrinsics: 0};
	for (let count = 0; count < 30_000; count++) {
		const text = Array.from({length: 1 + Math.floor(random.next() * 14)}, () => pick(pieces, random)).join('');
		for (const [parser, name] of [
			[parsePathText, 'paths'],
			[parseIntrinsic, 'intrinsics'],
		] as const)
			try {
				parser(text);
				taken[name]++;
			} catch (error) {
				if (!(error instanceof SyntaxProblem)) throw error;
			}
	}
	t.true(taken.paths > 100);
});
