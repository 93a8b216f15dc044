// How long a pod's containers wait between two tries, when the pod says so itself.

import test from 'ava';
import {backoffOf} from '../../api/backoff.js';
import {checkBackoff} from '../../api/rules/backoff.js';
import type {Problem} from '../../api/problem.js';
import {aPod, aReplicaSet, problemsOf} from './_objects.js';

const first = 'troupe.dev/backoff-first';
const max = 'troupe.dev/backoff-max';
const reset = 'troupe.dev/backoff-reset';

test('without annotations it is as everywhere', t => {
	t.deepEqual(backoffOf({}), {firstMs: 100, maxMs: 300_000, resetMs: 600_000});
	t.is(backoffOf({other: 'x'}), backoffOf({}));
});

test('annotations are lengths of time, each for itself', t => {
	t.deepEqual(backoffOf({[first]: '2s'}), {firstMs: 2_000, maxMs: 300_000, resetMs: 600_000});
	t.deepEqual(backoffOf({[max]: '1h30m', [reset]: '45'}), {firstMs: 100, maxMs: 5_400_000, resetMs: 45_000});
});

test('of a first wait and a longest one the one that is said counts', t => {
	t.deepEqual(backoffOf({[max]: '50ms'}), {firstMs: 50, maxMs: 50, resetMs: 600_000});
	t.deepEqual(backoffOf({[first]: '10m'}), {firstMs: 600_000, maxMs: 600_000, resetMs: 600_000});
});

test('what cannot be understood is as if it were not there', t => {
	for (const value of ['', 'soon', '0', '-1s', '9ms', '25h', '1s '])
		t.deepEqual(backoffOf({[first]: value, [max]: value, [reset]: value}), backoffOf({}), value);
});

function problems(annotations: unknown): readonly string[] {
	const found: Problem[] = [];
	checkBackoff(found, 'metadata.annotations', annotations);
	return found.map(({path, message}) => `${path} ${message}`);
}

test('and is refused where it is written', t => {
	t.deepEqual(problems({[first]: '0s', [reset]: 'soon'}), [
		'metadata.annotations["troupe.dev/backoff-first"] must be a time such as 500ms, 30s or 1h30m, from 10ms to 24h, got "0s"',
		'metadata.annotations["troupe.dev/backoff-reset"] must be a time such as 500ms, 30s or 1h30m, from 10ms to 24h, got "soon"',
	]);
	t.deepEqual(problems({[first]: '10s', [max]: '5s'}), [
		'metadata.annotations["troupe.dev/backoff-first"] must not be longer than troupe.dev/backoff-max, got "10s"',
	]);
	for (const fine of [undefined, {}, {[first]: '10ms', [max]: '24h', [reset]: '1h30m'}, {[first]: 5}, 7]) t.deepEqual(problems(fine), []);
});

test('for pods and for templates of pods', t => {
	const annotations = {[first]: 'soon'};
	t.regex(problemsOf(aPod({}, {annotations})).join(), /metadata\.annotations\["troupe\.dev\/backoff-first"\].*must be a time/);
	const set = aReplicaSet() as {spec: {template: {metadata: object}}};
	const template = {...set.spec.template, metadata: {...set.spec.template.metadata, annotations}};
	t.regex(problemsOf({...set, spec: {...set.spec, template}}).join(), /spec\.template\.metadata\.annotations.*must be a time/);
});
