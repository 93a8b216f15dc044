import test from 'ava';
import {controlDesign} from '../../actors/control/design.js';
import type {AnyBehavior, Context, Message, Next} from '../../system/behavior.js';
import type {SystemDesign} from '../../system/durable-system.js';
import {runScenario} from './scenario.js';

const seeds = 500;

test(`pods and a ReplicaSet come to what was asked for under ${seeds} histories of faults`, t => {
	const broken: string[] = [];
	for (let seed = 1; seed <= seeds; seed++) {
		const {violations} = runScenario(seed);
		if (violations.length > 0) broken.push(`npm run simulate -- --seed ${seed}: ${violations.join('; ')}`);
	}
	t.deepEqual(broken, []);
});

test('the same seed gives the same history', t => {
	t.deepEqual(runScenario(7, {trace: true}), runScenario(7, {trace: true}));
});

/** The first seed that notices a planted bug; undefined when none of the first hundred does. */
function firstToFind(design: SystemDesign): number | undefined {
	for (let seed = 1; seed <= 100; seed++) if (runScenario(seed, {design}).violations.length > 0) return seed;
	return undefined;
}

function withBehavior(name: string, change: (behavior: AnyBehavior) => AnyBehavior): SystemDesign {
	const behavior = controlDesign.behaviors[name];
	if (behavior === undefined) throw new Error(`no behaviour ${name}`);
	return {...controlDesign, behaviors: {...controlDesign.behaviors, [name]: change(behavior)}};
}

test('a ReplicaSet that forgets what it has asked for is found out', t => {
	const forgetful = withBehavior('ReplicaSet', behavior => ({
		...behavior,
		receive: (state: unknown, message: Message, context: Context) => behavior.receive(state, message, forgetting(context)) as Next<unknown>,
	}));
	t.true(firstToFind(forgetful) !== undefined);
});

/** The same context without what is open: each wake asks for everything again. */
const forgetting = ({self, cause, nowMs, children, random, known}: Context): Context => ({
	cause,
	self,
	nowMs,
	children,
	hasChild: () => false,
	random,
	known,
	pending: new Map(),
});

test('wakes that get lost are found out, since nothing but the resync makes them good', t => {
	const deaf: SystemDesign = {
		...controlDesign,
		resync: false,
		wakesOf: (change, known) => [...controlDesign.wakesOf(change, known)].slice(1),
	};
	t.true(firstToFind(deaf) !== undefined);
});

test('a scale that is answered and not written is found out', t => {
	const lying = withBehavior('ReplicaSet', behavior => ({
		...behavior,
		receive(state: unknown, message: Message, context: Context) {
			const step = behavior.receive(state, message, context) as Next<unknown>;
			return message.type === 'patch' ? {...step, state} : step;
		},
	}));
	t.true(firstToFind(lying) !== undefined);
});
