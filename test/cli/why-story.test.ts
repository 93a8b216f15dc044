// What `why` shows first, and how much of a long story.

import test from 'ava';
import {createColors} from 'picocolors';
import type {ObjectEvent} from '../../server/control-plane.js';
import {tellWhy, type Shown, type Why} from '../../cli/objects/why-story.js';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const widthOf = (text: string): number => text.length;

const event = (message: string, secondsAgo: number): ObjectEvent => ({
	type: 'Normal',
	reason: 'Scaled',
	message,
	count: 1,
	firstAtMs: nowMs - secondsAgo * 1_000,
	lastAtMs: nowMs - secondsAgo * 1_000,
});

const step = (version: number, cause = `cause ${version}`) => ({
	version,
	atMs: nowMs - 60_000 + version,
	type: 'wake',
	from: 'troupe://control/x',
	cause,
});

const held: Why = {
	answer: 'Deployment web does not progress: its pod crashes; its last words: `no \u001b[31mtable`.',
	state: 'wrong',
	next: {says: 'restart attempt 5', atMs: nowMs + 2_100},
	chain: [
		{about: 'deployment/web', says: 'does not progress'},
		{about: 'container app', says: 'exited with 3', atMs: nowMs - 2_000, lines: ['starting', 'no table']},
	],
	nowMs,
	object: {
		kind: 'Deployment',
		metadata: {name: 'web', uid: 'u', resourceVersion: '70', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'},
	},
	actor: {
		name: 'x',
		address: 'troupe://control/x',
		behavior: 'Deployment',
		state: 'running',
		about: 'generation 1',
		restarts: 0,
		waiting: 0,
		handled: 1,
		stepMs: 1,
		childCount: 0,
	},
	journal: [step(1), step(2), ...Array.from({length: 60}, (_, at) => step(at + 3, 'exit of a')), step(63)],
	events: Array.from({length: 9}, (_, at) => event(`scaled ${at}`, 30 - at)),
};

const told = (why: Why, shown: Partial<Shown> = {}): string =>
	tellWhy('deployment/web', why, {commits: false, all: false, ...shown}, widthOf, createColors(false));

test('the answer comes first, what comes next and when, then the chain with the last words; commits are told of', t => {
	t.is(
		told({...held, events: []}),
		[
			'Deployment web does not progress: its pod crashes; its last words: `no ^[[31mtable`.',
			'Next: restart attempt 5 in 3 s.',
			'',
			'What leads to it:',
			'  deployment/web   does not progress',
			'  container app    exited with 3 (2s ago)',
			'                   | starting',
			'                   | no table',
			'',
			'deployment/web is at version 70, made 60m ago; --commits shows what set each of its 63 commits going',
			'',
		].join('\n'),
	);
});

test('of a long story only the newest events are shown, unless all are asked for', t => {
	t.regex(told(held), /\n {2}… +5 more +--all shows them\n[^]*scaled 8\n/);
	t.notRegex(told(held), /scaled [0-4]\n|BECAUSE OF/);
	t.is([...told(held, {all: true}).matchAll(/scaled \d$/gm)].length, 9);
});

test('commits are shown where they are asked for, those alike in a row as one; all of them with --all', t => {
	const page = told(held, {commits: true});
	t.regex(page, /Its actor troupe:\/\/control\/x\n {2}running, generation 1\n\nWhat led here, oldest first:\n/);
	t.deepEqual(
		[...page.matchAll(/^ {2}(\d+\S*) .* (cause \d+|exit of a)$/gm)].map(([, versions]) => versions),
		['1', '2', '3-62', '63'],
	);
	t.regex(page, /59s ago \(x60\)/);
	t.is([...told(held, {all: true}).matchAll(/ (cause \d+|exit of a)$/gm)].length, 63);
	t.notRegex(told(held, {all: true}), /--commits|more/);
});

test('where nothing leads on, the answer stands alone; what is due is now', t => {
	const chain = [{about: 'pod/a', says: 'it is ready'}];
	const page = told({...held, state: 'fine', answer: 'Nothing is wrong.', chain, events: [], next: {says: 'it leaves', atMs: nowMs - 1}});
	t.regex(page, /^Nothing is wrong\.\nNext: it leaves now\.\n\ndeployment\/web is at version 70/);
	t.regex(told({...held, state: 'gone', next: null, object: null}), /\ndeployment\/web is gone; its story is kept for an hour/);
});

test('what was made before the journal began says so', t => {
	t.regex(
		told({...held, journalSinceMs: nowMs - 60_000}, {commits: true}),
		/What led here before that is not known: .* started, 60s ago\.\n/,
	);
	t.notRegex(told({...held, journalSinceMs: nowMs - 60_000}), /is not known/);
});
