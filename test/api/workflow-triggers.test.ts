// What starts runs of a workflow: the form that triggers of functions have, without what is of deliveries.

import test from 'ava';
import {admitCreate} from '../../api/admission.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {causesAnnotations, causesOf} from '../../api/triggered-run.js';
import {manifests} from './_manifests.js';

function problemsOf(triggers: Json): readonly string[] {
	const {spec} = manifests.Workflow;
	const admitted = admitCreate({...manifests.Workflow, spec: {...spec, triggers}});
	if (admitted.ok) return [];
	const {problems = []} = admitted.error.details as {readonly problems?: readonly {readonly path: string; readonly message: string}[]};
	return problems.map(({path, message}) => `${path}: ${message}`);
}

test('messages, times and changes start runs of a workflow', t => {
	t.deepEqual(
		problemsOf([
			{name: 'orders', topic: 'orders/+/new', concurrencyPolicy: 'Allow'},
			{name: 'nightly', schedule: '0 3 * * *', timeZone: 'Europe/Berlin', params: '[1, null]', concurrencyPolicy: 'Forbid'},
			{name: 'pods', objects: {kind: 'Pod', selector: {matchLabels: {app: 'web'}}, changes: ['created']}},
		]),
		[],
	);
});

test('a trigger of a workflow that cannot be meant is refused, and so is what only deliveries have', t => {
	const deep = '['.repeat(limits.statesDataDepth + 1) + ']'.repeat(limits.statesDataDepth + 1);
	const cases: readonly (readonly [Json, RegExp])[] = [
		[[{name: 'a', topic: 'a', retries: 3}], /retries/],
		[[{name: 'a', topic: 'a', deadLetterTopic: 'b'}], /deadLetterTopic/],
		[[{name: 'a', topic: 'a', concurrencyPolicy: 'Replace'}], /spec\.triggers\[0\]\.concurrencyPolicy/],
		[[{name: 'a', topic: 'troupe/v1/objects/#'}], /spec\.triggers\[0\]\.topic: must be a filter/],
		[[{name: 'a', schedule: 'often'}], /spec\.triggers\[0\]\.schedule/],
		[[{name: 'a', schedule: '* * * * *', params: '{'}], /spec\.triggers\[0\]\.params: must be JSON/],
		[[{name: 'a', schedule: '* * * * *', params: deep}], /spec\.triggers\[0\]\.params: is nested deeper than 60 levels/],
		[[{name: 'a'}], /spec\.triggers\[0\]: must be one of topic, schedule, objects, got none/],
		[Array.from({length: limits.objectTriggers + 1}, (_, at) => ({name: `a${at}`, topic: 'a'})), /must be at most 32, got 33/],
	];
	for (const [triggers, wanted] of cases) t.regex(problemsOf(triggers).join('\n'), wanted);
});

test('a run says because of which workflows it was started', t => {
	t.deepEqual(causesAnnotations([]), {});
	const annotations = causesAnnotations(['a', 'b.c']);
	t.deepEqual(causesOf({metadata: {annotations}}), ['a', 'b.c']);
	t.deepEqual(causesOf({metadata: {}}), []);
});
