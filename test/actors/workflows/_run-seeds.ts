// A run of twenty states by a seed: killed at any time, with a store that fails now and then, and calls that are lost or take long. By some seeds it is
// suspended and resumed at any turn, and deleted and made anew.

import {deepEqual} from '../../../api/equal.js';
import {objectKey} from '../../../api/keys.js';
import type {Run} from '../../../api/kinds/run.js';
import {membersOf, textOf} from '../../../api/rules/report.js';
import {seededRandom} from '../../../system/time/random.js';
import {gives, RunCluster} from './_run-cluster.js';
import {answersOfTwenty, attemptOf, attemptsOfTwenty, input, output, twenty} from './_workflow-of-twenty.js';

const turnsMost = 2_000_000;

/** What is broken; nothing should be. */
export function violationsOf(seed: number): readonly string[] {
	const random = seededRandom(seed);
	const kills = random.next() ** 3 * 0.01;
	const often = (least: number, scale: number): number => Math.max(0, random.next() - least) * scale;
	const [failures, losses] = [often(0.5, 0.2), often(0.5, 0.2)];
	const deletions = often(0.7, 0.01);
	// Few: each of them might set going what the one before has left standing.
	let flickers = Math.floor(random.next() * 4);
	let token: string | undefined;
	const cluster = new RunCluster((call, state) => {
		if (state === 'Ask') token = textOf(membersOf(call.input)['token']);
		return {...answersOfTwenty(call, state), afterMs: Math.floor(random.next() ** 4 * 20_000)};
	}, seed);
	const found = (): Run | undefined => cluster.durable.index.get(objectKey('runs', 'default', 'one')) as Run | undefined;
	const suspends = (suspend: boolean): void => cluster.sendRun('one', {type: 'patch', patch: {spec: {suspend}}});
	cluster.workflow('twenty', twenty);
	cluster.begin('twenty', 'one', input);
	cluster.failsToWrite = () => random.next() < failures;
	cluster.losesOutcome = () => random.next() < losses;
	let answeredFor: string | undefined;
	let isDeleted = false;
	for (let turns = 0; found()?.status?.completionTime === undefined; turns++) {
		if (turns > turnsMost) return [...cluster.violations, `it does not end: ${JSON.stringify(found()?.status)}`];
		if (random.next() < kills) cluster.start();
		if (flickers > 0 && random.next() < 0.005) {
			flickers--;
			suspends(true);
			for (let between = Math.floor(random.next() * 6); between > 0; between--) cluster.turn();
			if (random.next() < 0.8) suspends(false);
		}
		if (!isDeleted && random.next() < deletions) {
			isDeleted = true;
			cluster.sendRun('one', {type: 'delete'});
		}
		if (cluster.turn()) continue;
		const run = found();
		if (run === undefined) cluster.sendBegin('twenty', 'one', input);
		else if (run.spec?.suspend === true && random.next() < 0.5) suspends(false);
		else if (run.status?.at?.some(({state}) => state === 'Ask') === true && answeredFor !== run.metadata.uid) {
			const task = token === undefined || random.next() < 0.5 ? {state: 'Ask'} : {token};
			// An answer may be refused: what it is for is not committed yet, or cannot be.
			if (random.next() < 0.3) cluster.start();
			else if (cluster.tellRun('one', {type: 'taskAnswered', task, outcome: gives({yes: true})}).ok) answeredFor = run.metadata.uid;
			cluster.time.fireNext();
		} else cluster.time.fireNext();
	}
	const {status, metadata} = cluster.run('one');
	const begun = cluster.begun.filter(key => key.startsWith(`${metadata.uid}/`));
	cluster.failsToWrite = () => false;
	cluster.start();
	cluster.settle();
	return [
		...cluster.violations,
		...(deepEqual(status?.output, output) ? [] : [`it ends otherwise: ${JSON.stringify(status)}`]),
		...attemptsBroken(begun.map(attemptOf).sort()),
		...cluster.stored('/troupe/parts/').map(key => `${key} is left`),
		...(cluster.stored('/troupe/history/').length === status?.history?.records ? [] : ['its history is not its own']),
	];
}

/** A call that takes longer than its state allows is another attempt. */
function attemptsBroken(begun: readonly string[]): readonly string[] {
	const expected = new Set(attemptsOfTwenty);
	const missing = attemptsOfTwenty.filter(attempt => !begun.includes(attempt));
	const strange = begun.filter(attempt => !expected.has(attempt));
	return [...missing.map(attempt => `${attempt} was never begun`), ...strange.map(attempt => `${attempt} was begun`)];
}
