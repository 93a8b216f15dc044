// `kubectl apply` sends no nulls, and its annotation has them: its user is told.

import test from 'ava';
import type {Json, JsonObject} from '../../api/object.js';
import {lastAppliedAnnotation} from '../../api/sealed.js';
import {openDoor} from './door.js';

const path = '/apis/troupe.dev/v1/namespaces/default/workflows';
const merge = {'content-type': 'application/merge-patch+json'};

const flow = (state: JsonObject, metadata: JsonObject = {}): JsonObject => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'Workflow',
	metadata: {name: 'flow', ...metadata},
	spec: {definition: {StartAt: 'A', States: {A: {Type: 'Pass', End: true, ...state}}}},
});

/** As kubectl remembers a manifest. */
const remembered = (manifest: JsonObject): JsonObject => ({annotations: {[lastAppliedAnnotation]: `${JSON.stringify(manifest)}\n`}});

const words = 'kubectl apply leaves out members that are null, which troupe apply and kubectl replace keep: ';

test('nulls that kubectl apply has left out are named, on create and on each change', async t => {
	const {call} = await openDoor(t);
	const written = flow({ResultPath: null, Parameters: {list: [1, {a: null}], b: null, c: null, kept: 1}});
	const sent = flow({Parameters: {list: [1, {}], kept: 1}}, remembered(written));
	const created = await call('POST', path, sent);
	t.is(created.status, 201);
	const at = 'spec.definition.States.A';
	t.is(created.headers['warning'], `299 - "${words}${at}.ResultPath, ${at}.Parameters.list[1].a, ${at}.Parameters.b and 1 more"`);
	const patch = {metadata: remembered(flow({InputPath: null})), spec: {definition: {States: {A: {InputPath: null, Parameters: null}}}}};
	t.is((await call('PATCH', `${path}/flow`, patch, merge)).headers['warning'], `299 - "${words}${at}.InputPath"`);
});

test('who sends the nulls, and who writes something else, is told nothing', async t => {
	const {call} = await openDoor(t);
	const written = flow({ResultPath: null, Parameters: {list: [null]}});
	const created = await call('POST', path, {...written, metadata: {...(written['metadata'] as JsonObject), ...remembered(written)}});
	t.deepEqual([created.status, created.headers['warning']], [201, undefined]);
	const changes: readonly (readonly [body: Json, type: string])[] = [
		[{metadata: {labels: {a: 'b'}}}, 'merge-patch'],
		[{metadata: remembered(written)}, 'merge-patch'],
		[[{op: 'remove', path: '/spec/definition/States/A/ResultPath'}], 'json-patch'],
		[{metadata: {labels: {a: 'c'}}}, 'merge-patch'],
		[{metadata: {annotations: {[lastAppliedAnnotation]: '['.repeat(9_000)}}}, 'merge-patch'],
	];
	for (const [body, type] of changes) {
		const answer = await call('PATCH', `${path}/flow`, body, {'content-type': `application/${type}+json`});
		t.deepEqual([answer.status, answer.headers['warning']], [200, undefined], JSON.stringify(body).slice(0, 80));
	}
	const map = {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c', ...remembered({data: {a: null}})}};
	t.is((await call('POST', '/api/v1/namespaces/default/configmaps', map)).headers['warning'], undefined);
});
