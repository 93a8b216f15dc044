// A message that functions and workflows want: it is taken once all of them have it, and by none where one has no room.

import test from 'ava';
import {AppError} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import type {Triggered, Occasion, Taker} from '../../server/triggers/occasion.js';
import {createTopicMessages} from '../../server/triggers/topic-messages.js';
import {createTopicTriggers} from '../../server/triggers/topic-triggers.js';

function aDoor() {
	const accepted: Occasion[] = [];
	const givenUp: string[] = [];
	const refused: string[] = [];
	const full = new Set<string>();
	const commits: (() => void)[] = [];
	const taker = (plural: string): Taker => ({
		accept(occasion) {
			accepted.push(occasion);
			return new Promise<void>(resolve => commits.push(resolve));
		},
		checkRoom(occasions) {
			if (occasions.length > 0 && full.has(plural)) throw new AppError('ERR_BUSY', {message: `${plural} are full`});
		},
		giveUp: ({trigger}) => void givenUp.push(trigger.name),
	});
	const triggers = createTopicTriggers();
	for (const plural of ['functions', 'workflows'])
		triggers.note(objectKey(plural, 'default', 'x'), {spec: {triggers: [{name: plural, topic: 'orders/+'}]}} as unknown as Triggered);
	const messages = createTopicMessages({
		triggers,
		takers: {functions: taker('functions'), workflows: taker('workflows')},
		onRefused: ({message}) => void refused.push(message),
	});
	const say = (topic: string, payload: string) =>
		messages.accept({name: 'ann', role: 'edit'}, {topic, payload: Buffer.from(payload), qos: 1});
	return {accepted, givenUp, refused, full, commits, say};
}

test('a message for a function and a workflow is taken when both have it', async t => {
	const {accepted, commits, say} = aDoor();
	t.is(say('other', '1'), undefined);
	t.is(say('troupe/v1/functions/default/x/invoke', '1'), undefined);
	let isTaken = false;
	const taken = say('orders/7', '{"n":1}')?.then(() => (isTaken = true));
	t.deepEqual(
		accepted.map(({target}) => target).toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
		[
			{plural: 'functions', namespace: 'default', name: 'x'},
			{plural: 'workflows', namespace: 'default', name: 'x'},
		],
	);
	t.like(accepted[0]?.seen, {type: 'message', topic: 'orders/7', json: {n: 1}, login: 'ann'});
	commits[0]?.();
	await new Promise(resolve => setImmediate(resolve));
	t.false(isTaken);
	commits[1]?.();
	await taken;
	t.true(isTaken);
});

test('where workflows have no room for a message, functions do not get it either', async t => {
	for (const plural of ['functions', 'workflows']) {
		const {accepted, refused, givenUp, full, say} = aDoor();
		full.add(plural);
		await t.throwsAsync(say('orders/7', '1') ?? Promise.resolve(), {message: `${plural} are full`});
		t.deepEqual([accepted.length, refused, givenUp], [0, [`${plural} are full`], []]);
	}
});
