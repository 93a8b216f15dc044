// When a probe's results make a container started, ready, or to be ended.

import test from 'ava';
import {noResults, probeTerms, tallied, type Tally} from '../../actors/node/containers/probe.js';

const results = (given: string, successThreshold: number, failureThreshold: number): string => {
	const terms = {...probeTerms({}), successThreshold, failureThreshold};
	let tally: Tally = noResults;
	return [...given]
		.map(result => {
			tally = tallied(tally, result === '+', terms);
			return tally.verdict === undefined ? '?' : tally.verdict ? '+' : '-';
		})
		.join('');
};

const cases: readonly (readonly [given: string, success: number, failure: number, verdicts: string])[] = [
	['+', 1, 3, '+'],
	['---', 1, 3, '??-'],
	['--+---', 1, 3, '??+++-'],
	['+--+--+', 1, 3, '+++++++'],
	['---+', 1, 3, '??-+'],
	['---++', 2, 3, '??--+'],
	['-+-+-+', 2, 2, '??????'],
	['-', 1, 1, '-'],
];
for (const [given, success, failure, verdicts] of cases) {
	test(`thresholds ${success} and ${failure}: ${given} gives ${verdicts}`, t => {
		t.is(results(given, success, failure), verdicts);
	});
}

test('what a manifest does not say is as in Kubernetes', t => {
	const usual = {initialDelayMs: 0, periodMs: 10_000, timeoutMs: 1_000, successThreshold: 1, failureThreshold: 3};
	t.deepEqual(probeTerms({}), usual);
	t.deepEqual(probeTerms({periodSeconds: 0, timeoutSeconds: 0, failureThreshold: 0, successThreshold: 0}), usual);
	t.deepEqual(probeTerms({initialDelaySeconds: 2, periodSeconds: 3, timeoutSeconds: 4, successThreshold: 5, failureThreshold: 6}), {
		initialDelayMs: 2_000,
		periodMs: 3_000,
		timeoutMs: 4_000,
		successThreshold: 5,
		failureThreshold: 6,
	});
});
