// What `why` shows first, and how much of a long story.

import test from 'ava';
import {createColors} from 'picocolors';
import type {ObjectEvent} from '../../server/control-plane.js';
import {tellWhy, type Why} from '../../cli/objects/why-story.js';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const widthOf = (text: string): number => text.length;

const event = (type: 'Normal' | 'Warning', message: string, secondsAgo: number): ObjectEvent => ({
	type,
	reason: type === 'Normal' ? 'Scaled' : 'FailedCreate',
	message,
	count: 1,
	firstAtMs: nowMs - secondsAgo * 1_000,
	lastAtMs: nowMs - secondsAgo * 1_000,
});

const step = (version: number) => ({
	version,
	atMs: nowMs - 60_000 + version,
	type: 'wake',
	from: 'troupe://control/x',
	cause: `cause ${version}`,
});

const held: Why = {
	object: {
		kind: 'Deployment',
		metadata: {name: 'web', uid: 'u', resourceVersion: '70', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'},
		status: {
			conditions: [
				{type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable'},
				{type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message: 'goes on'},
				{type: 'Old', status: 'False', message: 'later'},
				{type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: q'},
				{type: 'Fourth', status: 'False'},
			],
		},
	},
	actor: {
		name: 'x',
		address: 'troupe://control/x',
		behavior: 'Deployment',
		state: 'running',
		about: 'generation 1',
		restarts: 0,
		waiting: 0,
		handled: 0,
		stepMs: 0,
		childCount: 0,
		failure: undefined,
	},
	journal: Array.from({length: 64}, (_, at) => step(at + 1)),
	events: [
		event('Warning', 'too old', 600),
		event('Warning', 'first', 50),
		event('Warning', 'second', 40),
		...Array.from({length: 6}, (_, at) => event('Normal', `scaled ${at}`, 30 - at)),
	],
};

const told = (why: Why, isWhole: boolean): string => tellWhy('deployment/web', why, isWhole, nowMs, widthOf, createColors(false));

test('what blocks comes first, a failure before what follows from it, and all fits on a screen', t => {
	const page = told(held, false);
	t.regex(
		page,
		/^deployment\/web {2}version 70, made 60m ago\n\nWhat holds it up:\n {2}ReplicaFailure is True \(FailedCreate\): exceeded quota: q\n {2}Old is False: later\n {2}Available is False \(MinimumReplicasUnavailable\)\n {2}FailedCreate, 40s ago: second\n {2}FailedCreate, 50s ago: first\n\nIts actor /,
	);
	t.true(page.split('\n').length <= 31, page);
	t.deepEqual(
		[...page.matchAll(/cause (\d+)$/gm)].map(([, version]) => Number(version)),
		[1, 2, 62, 63, 64],
	);
	t.regex(page, /^ {2}… +59 more +--all shows them$/m);
	t.regex(page, /\n {2}… +5 more +--all shows them\n[^]*scaled 5\n$/);
	t.notRegex(page, /too old|scaled [01]/);
});

test('all of it is shown where that is asked for', t => {
	const page = told(held, true);
	t.is([...page.matchAll(/cause \d+$/gm)].length, 64);
	t.is([...page.matchAll(/^ +\S+ ago +(Normal|Warning) /gm)].length, 9);
	t.notRegex(page, /more/);
});

test('where nothing is wrong nothing holds it up, whatever was told before; nor a pod that is complete', t => {
	const object = held.object ?? undefined;
	const conditions = [{type: 'Ready', status: 'False', reason: 'PodCompleted'}];
	t.notRegex(
		told({...held, object: {...(object as NonNullable<Why['object']>), status: {phase: 'Succeeded', conditions}}}, false),
		/holds it up/,
	);
});

test('a job that was resumed and a claim that is within its size are held up by nothing; one suspended, or too large, is', t => {
	const object = held.object ?? undefined;
	for (const type of ['Suspended', 'StorageExceeded', 'DisruptionTarget']) {
		const page = (status: 'True' | 'False'): string =>
			told({...held, object: {...(object as NonNullable<Why['object']>), status: {conditions: [{type, status}]}}}, false);
		t.notRegex(page('False'), /holds it up/, type);
		t.regex(page('True'), new RegExp(`What holds it up:\\n {2}${type} is True`));
	}
});
