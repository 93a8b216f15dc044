import test from 'ava';
import {limits} from '../../../api/limits.js';
import type {AnyBehavior} from '../../../system/kernel/behavior.js';
import {actorWorld, lifecycleOf} from './actor-world.js';
import {puppet, spawnPuppet} from './puppet.js';
import {nodeAt} from './actor-tree.js';

/** A behaviour whose every message is a bug. */
const stubborn: AnyBehavior = {
	...puppet(() => undefined),
	kind: 'Stubborn',
	pastIntensity: 'backOff',
	init: () => {
		throw new Error('it cannot even start');
	},
};

const world = () =>
	actorWorld({effects: [{type: 'spawn', name: 'stubborn', behavior: 'stubborn'}, spawnPuppet('sibling')]}, {}, {stubborn});

test('an actor that backs off past its intensity rests longer each time, and neither siblings nor supervisor notice', t => {
	const {system, pass, lifecycle, escalations, log, at} = world();
	pass(1_000);
	t.like(nodeAt(system, at('stubborn')), {state: 'parked', restarts: 4});
	pass(3_600_000);
	const rests = lifecycle.flatMap(event => (event.type === 'parked' ? [event.retryInMs] : []));
	t.deepEqual(rests.slice(0, 4), [1_000, 2_000, 4_000, 8_000]);
	t.is(rests.at(-1), limits.actorBackoffMaxMs);
	t.true(rests.length < 30, `it rested ${rests.length} times in an hour`);
	t.deepEqual(escalations, []);
	t.deepEqual(log, [': init', 'sibling: init']);
	t.like(nodeAt(system, at('sibling')), {state: 'running', restarts: 0});
});

test('an actor that backs off tries a few times at once first', t => {
	const seen = world();
	seen.pass(500);
	t.deepEqual(lifecycleOf(seen), [
		'crashed stubborn',
		'restarted stubborn',
		'crashed stubborn',
		'restarted stubborn',
		'crashed stubborn',
		'restarted stubborn',
		'crashed stubborn',
		'parked stubborn',
	]);
});
