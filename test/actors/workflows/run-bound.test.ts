// How many runs of a workflow may be under way, and how they are counted.

import test from 'ava';
import {termsOf} from '../../../actors/control/kinds.js';
import {triggerEvent} from '../../../actors/control/objects/trigger-news.js';
import {runController, underWayTerm} from '../../../actors/control/workflows/run.js';
import {objectKey} from '../../../api/keys.js';
import type {Run, RunPhase} from '../../../api/kinds/run.js';
import {limits} from '../../../api/limits.js';
import type {Draft} from '../../../api/object.js';
import {triggerLabel} from '../../../api/triggered-run.js';
import {ObjectIndex, type Known} from '../../../system/index/object-index.js';

const aRun = (name: string, workflow: string, phase?: RunPhase, trigger?: string): Run => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Run',
	metadata: {
		...{name, namespace: 'default', uid: `uid-${name}`, generation: 1, resourceVersion: '1', creationTimestamp: ''},
		...(trigger === undefined ? {} : {labels: {[triggerLabel]: trigger}}),
	},
	spec: {workflow},
	...(phase === undefined ? {} : {status: {phase}}),
});

test('runs that are not over are counted for their workflow, and for the trigger that has started them', t => {
	const index = new ObjectIndex(termsOf);
	let version = 1;
	const put = (run: Run): void =>
		void index.apply(objectKey('runs', 'default', run.metadata.name), version++, run, () => JSON.stringify(run));
	put(aRun('a', 'order'));
	put(aRun('b', 'order', 'Running', 'nightly'));
	put(aRun('c', 'order', 'Suspended', 'nightly'));
	put(aRun('d', 'order', 'Failed', 'nightly'));
	put(aRun('e', 'other', 'Running', 'nightly'));
	const count = (workflow: string, trigger?: string): number => index.countByTerm('runs', underWayTerm('default', workflow, trigger));
	t.deepEqual([count('order'), count('order', 'nightly'), count('other', 'nightly'), count('none')], [3, 2, 1, 0]);
	put(aRun('b', 'order', 'Succeeded', 'nightly'));
	put(aRun('a', 'order', 'Cancelled'));
	t.deepEqual([count('order'), count('order', 'nightly')], [1, 1]);
});

test('a run is one too many where as many of its workflow are under way as may, and of no other', t => {
	const asked: string[] = [];
	const prepared = (count: number) => {
		const known = {
			countByTerm: (_: string, term: string) => (asked.push(term), count),
			get: () => undefined,
		} as unknown as Known;
		const draft: Draft = {
			apiVersion: 'troupe.dev/v1',
			kind: 'Run',
			metadata: {name: 'r', namespace: 'default'},
			spec: {workflow: 'order'},
		};
		return runController.prepare?.(draft, known);
	};
	t.true(prepared(limits.workflowRunsUnderWay - 1)?.ok);
	const refused = prepared(limits.workflowRunsUnderWay);
	t.like(refused, {ok: false, error: {code: 'ERR_BUSY'}});
	t.regex(refused?.ok === false ? refused.error.message : '', /^10000 runs of the workflow "order" are under way, as many as may/);
	t.deepEqual([...new Set(asked)], [underWayTerm('default', 'order')]);
});

test('what is told of triggers becomes an event of each', t => {
	t.like(triggerEvent({type: 'undelivered', trigger: 'a', message: 'no'}), {
		...{type: 'event', event: 'Warning', reason: 'Undelivered', message: 'trigger "a": no', aspect: 'a'},
	});
	t.like(triggerEvent({type: 'passedOver', trigger: 'b'}), {type: 'event', event: 'Normal', reason: 'PassedOver', aspect: 'b'});
});
