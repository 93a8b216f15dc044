// `describe workflow`: its triggers, and the runs that they have started.

import test from 'ava';
import type {Workflow} from '../../api/kinds/workflow.js';
import {drawWorkflowTriggers, triggerSource} from '../../cli/describe/triggers.js';
import {openCluster} from './_rig.js';

const metadata = (name: string, labels: object = {}) => ({
	...{name, namespace: 'default', uid: `uid-${name}`, generation: 1, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z'},
	labels: labels as Readonly<Record<string, string>>,
});

const workflow = (...triggers: NonNullable<NonNullable<Workflow['spec']>['triggers']>): Workflow => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Workflow',
	metadata: metadata('order'),
	spec: {definition: {StartAt: 'A', States: {A: {Type: 'Succeed'}}}, triggers},
});

test('a trigger is shown by what it is of', t => {
	t.is(triggerSource({name: 'a', topic: 'x/+'}), 'topic x/+');
	t.is(triggerSource({name: 'a', schedule: '0 3 * * *'}), 'schedule 0 3 * * *');
	t.is(triggerSource({name: 'a', schedule: '0 3 * * *', timeZone: 'UTC'}), 'schedule 0 3 * * * (UTC)');
	t.is(triggerSource({name: 'a', objects: {kind: 'Pod'}}), 'changes of Pod');
	t.is(
		drawWorkflowTriggers(workflow(), new Map(), text => text.length),
		'',
	);
});

test('the page of a workflow counts the runs that each trigger has started', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.put(workflow({name: 'nightly', schedule: '0 3 * * *', concurrencyPolicy: 'Forbid'}, {name: 'orders', topic: 'orders/+'}));
	const run = (name: string, trigger: string, phase: string, of = 'order'): void =>
		void cluster.put({
			...{apiVersion: 'troupe.dev/v1', kind: 'Run', spec: {workflow: of}, status: {phase}},
			metadata: metadata(name, {'troupe.dev/workflow': of, 'troupe.dev/trigger': trigger}),
		});
	run('a', 'orders', 'Running');
	run('b', 'orders', 'Pending');
	run('c', 'orders', 'Succeeded');
	run('d', 'orders', 'Failed');
	run('e', 'orders', 'Running', 'other');
	const {out} = await troupe(['describe', 'workflow/order']);
	t.regex(out, /^Triggers:\n {2}NAME +SOURCE +CONCURRENCY +RUNS +UNDER-WAY\n/m);
	t.regex(out, /^ {2}nightly +schedule 0 3 \* \* \* +Forbid +0 +0\n {2}orders +topic orders\/\+ +Allow +4 +2\n/m);
});
