// A Deployment that is changed again and again while all that happens does so in an order of chance: some orders are for `npm test`, the others
// for the longer lane.

import type {TestFn} from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import {aDeployment, aTemplate} from './_objects.js';
import {Rollout} from './_rollouts.js';

const [first, second, third] = [aTemplate('first'), aTemplate('second'), aTemplate('third')];
const versionIn = (value: unknown): string | undefined => /first|second|third/.exec(JSON.stringify(value))?.[0];
const versionOf = ({spec}: Pod): string | undefined => versionIn(spec);

const strategyOf = (seed: number): object =>
	seed % 5 === 0
		? {type: 'Recreate'}
		: {type: 'RollingUpdate', rollingUpdate: {maxSurge: seed % 4, maxUnavailable: `${10 + (seed % 3) * 25}%`}};

/** Declares a test of so many orders, from that of the seed `from` on. */
export function testOrders(test: TestFn, from: number, count: number): void {
	test(`whatever is changed when, in orders ${from} to ${from + count - 1}, both bounds hold and the last template is what runs`, t => {
		for (let seed = from; seed < from + count; seed++) {
			const {rollout, template} = changedByChance(seed);
			t.deepEqual(rollout.judge.violations, [], `seed ${seed}`);
			t.like(rollout.condition('Progressing'), {reason: 'NewReplicaSetAvailable'}, `seed ${seed}`);
			t.is(rollout.sizes.at(-1), rollout.deployment.spec?.replicas, `seed ${seed}`);
			t.true(
				rollout.pods.every(pod => versionOf(pod) === versionIn(template)),
				`seed ${seed}`,
			);
		}
	});
}

/** Four changes, each in the middle of what came of the one before, and then all that is left to happen. */
function changedByChance(seed: number) {
	const rollout = new Rollout(aDeployment({spec: {replicas: 10, strategy: strategyOf(seed)}}), seed);
	rollout.run();
	const {random} = rollout;
	const below = (count: number): number => Math.floor(random.next() * count);
	let template = first;
	for (let change = 0; change < 4; change++) {
		template = [first, second, third][below(3)] ?? first;
		const isBad = below(3) === 0;
		const bad = versionIn(template);
		rollout.isBad = pod => isBad && versionOf(pod) === bad;
		rollout.change({template, ...(below(2) === 0 ? {replicas: below(14)} : {}), ...(below(4) === 0 ? {paused: true} : {})});
		for (let steps = below(150); steps > 0 && rollout.step(); steps--) {
			const [pod] = rollout.pods.filter(({status}) => status?.phase === 'Running');
			if (below(40) === 0 && pod !== undefined) rollout.fail(pod);
		}
	}
	rollout.isBad = () => false;
	rollout.change({paused: false});
	rollout.run();
	return {rollout, template};
}
