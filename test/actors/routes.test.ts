// Who gets a path of a host that several ask for, and what the others say.

import test from 'ava';
import {watchesOf} from '../../actors/control/kinds.js';
import {conditionOf} from '../../api/conditions.js';
import type {ApiObject, Condition} from '../../api/object.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {contextWith, drop, indexOf, put} from './_objects.js';
import {tellRecord} from './_records.js';

const of = (kind: 'Dns' | 'Ingress', name: string, createdAt: string, spec: object): ApiObject => ({
	apiVersion: kind === 'Dns' ? 'troupe.dev/v1' : 'networking.k8s.io/v1',
	kind,
	metadata: {name, namespace: 'default', uid: name, resourceVersion: '1', generation: 1, creationTimestamp: createdAt},
	spec,
});

const old = of('Dns', 'old', '2026-01-01T00:00:00Z', {host: 'a.test', paths: [{subPath: '/api/', svcName: 'a', svcPort: 80}]});
const backend = {service: {name: 'b', port: {number: 80}}};
const young = of('Ingress', 'young', '2026-01-02T00:00:00Z', {
	rules: [
		{
			host: 'a.test',
			http: {
				paths: [
					{path: '/api', pathType: 'Prefix', backend},
					{path: '/api', pathType: 'Exact', backend},
				],
			},
		},
	],
});

type Seen = {readonly condition: Condition | undefined; readonly effects: readonly Effect[]; readonly object: ApiObject};

function look(route: ApiObject, ...others: readonly ApiObject[]): Seen {
	const played = tellRecord(route, [{type: 'wake'}], contextWith(indexOf(route, ...others)));
	const object = played.object as ApiObject & {readonly status?: {readonly conditions?: readonly Condition[]}};
	return {condition: conditionOf(object.status?.conditions, 'Accepted'), effects: played.effects, object};
}

test('a path belongs to the older of two, of whatever kind; the other says so, and tells it once', t => {
	t.like(look(old, young).condition, {status: 'True', reason: 'Accepted'});
	const second = look(young, old);
	t.like(second.condition, {status: 'False', reason: 'PathTaken', message: 'a.test/api belongs to dns default/old: the older one has it'});
	t.is(second.effects.filter(({type}) => type === 'event').length, 1);
	t.deepEqual(look(second.object, old).effects, []);
	t.is(look(second.object, old).object, second.object);
	t.like(look(second.object).condition, {status: 'True'});
});

test('who asks for a path that came, changed or went is woken, and nobody else', t => {
	const other = of('Dns', 'other', '2026-01-03T00:00:00Z', {host: 'b.test', paths: [{subPath: '/api', svcName: 'a', svcPort: 80}]});
	const index = indexOf(old, young, other);
	const woken = (before: ApiObject | undefined, after: ApiObject | undefined): readonly string[] =>
		watchesOf('dnses').flatMap(watch => [...watch({before, after}, index)].map(({metadata}) => metadata.name));
	t.deepEqual(new Set(woken(old, undefined)), new Set(['old', 'young']));
	t.deepEqual(woken(old, {...old, metadata: {...old.metadata, resourceVersion: '2'}}), []);
	t.deepEqual(new Set(woken(other, undefined)), new Set(['other']));
	drop(index, old);
	put(index, {...other, spec: (old as {spec?: unknown}).spec});
	t.deepEqual(new Set(woken(undefined, old)), new Set(['other', 'young']));
});
