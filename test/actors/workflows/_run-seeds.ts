// A run of twenty states by a seed: killed at any time, with a store that fails now and then, and calls that are lost or take long.

import {deepEqual} from '../../../api/equal.js';
import {seededRandom} from '../../../system/time/random.js';
import {gives, RunCluster} from './_run-cluster.js';
import {answersOfTwenty, attemptOf, attemptsOfTwenty, input, output, twenty} from './_workflow-of-twenty.js';

const turnsMost = 2_000_000;

/** What is broken; nothing should be. */
export function violationsOf(seed: number): readonly string[] {
	const random = seededRandom(seed);
	const kills = random.next() ** 3 * 0.01;
	const [failures, losses] = [random.next(), random.next()].map(chance => (chance < 0.5 ? 0 : (chance - 0.5) * 0.2)) as [number, number];
	const cluster = new RunCluster((call, state) => {
		const answer = answersOfTwenty(call, state);
		return {...answer, afterMs: Math.floor(random.next() ** 4 * 20_000)};
	}, seed);
	cluster.workflow('twenty', twenty);
	cluster.begin('twenty', 'one', input);
	cluster.failsToWrite = () => random.next() < failures;
	cluster.losesOutcome = () => random.next() < losses;
	let isAnswered = false;
	for (let turns = 0; cluster.run('one').status?.completionTime === undefined; turns++) {
		if (turns > turnsMost) return [...cluster.violations, `it does not end: ${JSON.stringify(cluster.run('one').status)}`];
		if (random.next() < kills) cluster.start();
		if (cluster.turn()) continue;
		const asks = cluster.run('one').status?.at?.some(({state}) => state === 'Ask') === true;
		if (asks && !isAnswered)
			isAnswered = cluster.tellRun('one', {type: 'taskAnswered', task: {state: 'Ask'}, outcome: gives({yes: true})}).ok;
		// An answer may be refused: what it is for is not committed yet, or cannot be.
		cluster.time.fireNext();
	}
	const {status} = cluster.run('one');
	return [
		...cluster.violations,
		...(deepEqual(status?.output, output) ? [] : [`it ends otherwise: ${JSON.stringify(status)}`]),
		...attemptsBroken(cluster.begun.map(attemptOf).sort()),
	];
}

/** A call that takes longer than its state allows is another attempt. */
function attemptsBroken(begun: readonly string[]): readonly string[] {
	const expected = new Set(attemptsOfTwenty);
	const missing = attemptsOfTwenty.filter(attempt => !begun.includes(attempt));
	const strange = begun.filter(attempt => !expected.has(attempt));
	return [...missing.map(attempt => `${attempt} was never begun`), ...strange.map(attempt => `${attempt} was begun`)];
}
