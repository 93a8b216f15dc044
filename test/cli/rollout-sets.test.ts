// `troupe rollout` of DaemonSets and StatefulSets, over a cluster whose pods are pretended.

import test, {type ExecutionContext} from 'ava';
import {AppError} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import {line} from '../../bench/rigs/command-line.js';
import {daemonSetRollout, statefulSetRollout} from '../../cli/rollout/sets.js';
import {detached} from './_rig.js';

const manifest = (kind: string, version: string, spec: object = {}): string =>
	JSON.stringify({
		apiVersion: 'apps/v1',
		kind,
		metadata: {name: 'web', annotations: {'kubernetes.io/change-cause': `version ${version}`}},
		spec: {
			selector: {matchLabels: {app: 'web'}},
			template: {
				metadata: {labels: {app: 'web'}},
				spec: {containers: [{name: 'main', image: 'any', command: ['run', version]}], terminationGracePeriodSeconds: 0},
			},
			...spec,
		},
	});

async function followed(t: ExecutionContext, kind: string, short: string, done: RegExp, spec: object = {}): Promise<void> {
	const {home, up} = await detached(t, '--runtime=simulated', '--store=memory');
	t.is(up.code, 0, up.err);
	const plural = `${kind.toLowerCase()}.apps/web`;
	const apply = async (version: string): Promise<void> => {
		t.is((await line(['apply', '-f', '-'], {home, input: manifest(kind, version, spec)})).code, 0);
	};
	const rollout = async (verb: string, ...flags: readonly string[]): Promise<string> => {
		const ran = await line(['rollout', verb, `${short}/web`, ...flags], {home});
		t.is(ran.code, 0, ran.err);
		return ran.out;
	};
	await apply('one');
	t.regex(await rollout('status', '--timeout', '30s'), done);
	await apply('two');
	t.regex(await rollout('status', '--timeout', '30s'), done);
	t.is(await rollout('history'), `${plural}\nREVISION   CHANGE-CAUSE\n1          version one\n2          version two\n\n`);
	t.regex(await rollout('history', '--revision', '1'), /with revision #1\nPod Template:\n[^]*Command: +run\n +one\n/);
	t.is(await rollout('undo'), `${plural} rolled back\n`);
	t.regex(await rollout('status', '--timeout', '30s'), done);
	t.regex(await rollout('history'), /\n2 +version two\n3 +version one\n/);
	t.is(await rollout('undo', '--to-revision', '3'), `${plural} skipped rollback (current template already matches revision 3)\n`);
	t.is(await rollout('restart'), `${plural} restarted\n`);
	t.regex(await rollout('status', '--timeout', '30s'), done);
	t.regex(await rollout('history'), /\n4 /);
	t.regex((await line(['get', short, 'web', '-o', 'json'], {home})).out, /"command": \[\s*"run",\s*"one"/);
	const paused = await line(['rollout', 'pause', `${short}/web`], {home});
	t.deepEqual([paused.code, paused.err], [1, `error: ${kind.toLowerCase()}s.apps "web" pausing is not supported\n`]);
}

test('a DaemonSet is followed, told of, undone and restarted', t =>
	followed(t, 'DaemonSet', 'ds', /daemon set "web" successfully rolled out\n$/));

test('a StatefulSet is followed, told of, undone and restarted', t =>
	followed(t, 'StatefulSet', 'sts', /partitioned roll out complete: 2 new pods have been updated\.\.\.\n$/, {replicas: 2}));

const object = (spec: object, status: object): ApiObject => ({
	apiVersion: 'apps/v1',
	kind: 'any',
	metadata: {name: 'web', uid: 'u', resourceVersion: '1', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z'},
	spec,
	status: {observedGeneration: 2, ...status},
});

test('what is waited for is said as kubectl says it', t => {
	const of = (kind: typeof daemonSetRollout, spec: object, status: object): string => kind.statusOf(object(spec, status), 0).text;
	const daemons = {desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3};
	t.is(of(daemonSetRollout, {}, {...daemons, observedGeneration: 1}), 'Waiting for daemon set spec update to be observed...');
	t.is(
		of(daemonSetRollout, {}, {...daemons, updatedNumberScheduled: 1}),
		'Waiting for daemon set "web" rollout to finish: 1 out of 3 new pods have been updated...',
	);
	t.is(
		of(daemonSetRollout, {}, {...daemons, numberAvailable: 2}),
		'Waiting for daemon set "web" rollout to finish: 2 of 3 updated pods are available...',
	);
	const spec = {replicas: 3, updateStrategy: {type: 'RollingUpdate', rollingUpdate: {partition: 1}}};
	t.is(of(statefulSetRollout, spec, {observedGeneration: 1}), 'Waiting for statefulset spec update to be observed...');
	t.is(of(statefulSetRollout, spec, {readyReplicas: 1}), 'Waiting for 2 pods to be ready...');
	t.is(
		of(statefulSetRollout, spec, {readyReplicas: 3, updatedReplicas: 1}),
		'Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...',
	);
	for (const kind of [daemonSetRollout, statefulSetRollout])
		t.throws(() => of(kind, {updateStrategy: {type: 'OnDelete'}}, {}), {instanceOf: AppError, message: /only available for RollingUpdate/});
});
