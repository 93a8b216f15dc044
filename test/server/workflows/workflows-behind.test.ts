// From the runs of which workflows an object comes.

import test from 'ava';
import type {ApiObject} from '../../../api/object.js';
import {limits} from '../../../api/limits.js';
import {causesAnnotations} from '../../../api/triggered-run.js';
import {workflowsBehind} from '../../../server/workflows/workflows-behind.js';

const apiVersions: {readonly [kind: string]: string} = {Pod: 'v1', Job: 'batch/v1', Run: 'troupe.dev/v1', Workflow: 'troupe.dev/v1'};

function object(kind: string, name: string, owner?: ApiObject, more: Partial<ApiObject> = {}, causes: readonly string[] = []): ApiObject {
	const apiVersion = apiVersions[kind] ?? 'v1';
	const owners =
		owner === undefined ? [] : [{apiVersion: owner.apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid}];
	const metadata = {
		name,
		namespace: 'default',
		uid: `uid-${kind}-${name}`,
		ownerReferences: owners,
		annotations: causesAnnotations(causes),
	};
	return {apiVersion, kind, metadata, ...more} as unknown as ApiObject;
}

const aRun = (name: string, workflow: string, owner?: ApiObject, causes: readonly string[] = []): ApiObject =>
	object('Run', name, owner, {spec: {workflow}}, causes);

function behind(
	asked: ApiObject,
	present: readonly ApiObject[],
	gone: readonly (readonly [key: string, ApiObject])[] = [],
): readonly string[] {
	const departed = new Map(gone);
	const found = workflowsBehind(asked, {
		index: {byUid: uid => present.find(({metadata}) => metadata.uid === uid)},
		departed: {
			of(key) {
				const was = departed.get(key);
				return was === undefined ? undefined : {object: was, goneAtMs: 0, askedVersion: 1};
			},
		},
	});
	return found.toSorted();
}

test('a workflow, its runs and what these own come from it, through any owners', t => {
	const flow = object('Workflow', 'order');
	const run = aRun('order-1', 'order', flow);
	const job = object('Job', 'j', run);
	const pod = object('Pod', 'p', job);
	const child = aRun('child', 'pack', run);
	const all = [flow, run, job, child];
	t.deepEqual(behind(flow, all), ['order']);
	t.deepEqual(behind(object('ControllerRevision', 'r', flow), all), ['order']);
	t.deepEqual(behind(pod, all), ['order']);
	t.deepEqual(behind(child, all), ['order', 'pack']);
	t.deepEqual(behind(object('Pod', 'other'), all), []);
});

test('a run that was started because of others comes from their workflows, too', t => {
	const run = aRun('b-1', 'b', undefined, ['a', 'c']);
	t.deepEqual(behind(object('Job', 'j', run), [run]), ['a', 'b', 'c']);
});

test('owners that are gone are remembered, but for others of the same name', t => {
	const run = aRun('order-1', 'order');
	const job = object('Job', 'j', run);
	const pod = object('Pod', 'p', job);
	const gone = [
		['jobs/default/j', job],
		['runs/default/order-1', run],
	] as const;
	t.deepEqual(behind(pod, [], gone), ['order']);
	t.deepEqual(behind(pod, []), []);
	t.deepEqual(behind(pod, [], [['jobs/default/j', object('Job', 'other', run)]]), []);
});

test('owners that own each other, and very many, are looked at once and as far as the bound goes', t => {
	const [a, b] = [object('Pod', 'a'), object('Pod', 'b')];
	const owned = (one: ApiObject, owner: ApiObject): ApiObject => object('Pod', one.metadata.name, owner);
	t.deepEqual(behind(owned(a, b), [owned(a, b), owned(b, a)]), []);
	const chain: ApiObject[] = [aRun('r', 'order')];
	for (let at = 0; at < limits.workflowOwners + 10; at++) chain.push(object('Pod', `p${at}`, chain.at(-1)));
	t.deepEqual(behind(chain[limits.workflowOwners] as ApiObject, chain), ['order']);
	t.deepEqual(behind(chain.at(-1) as ApiObject, chain), []);
});
