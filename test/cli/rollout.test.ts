// `troupe rollout` in kubectl's words, over a cluster whose pods are pretended.

import test, {type ExecutionContext} from 'ava';
import {line} from '../../bench/rigs/command-line.js';
import {conditionOf} from '../../api/conditions.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {ApiObject} from '../../api/object.js';
import {deploymentRollout} from '../../cli/rollout/deployment.js';
import {AppError} from '../../api/errors.js';
import {detached} from './_rig.js';

const manifest = (version: string, spec: object = {}, annotations: object = {}): string =>
	JSON.stringify({
		apiVersion: 'apps/v1',
		kind: 'Deployment',
		metadata: {name: 'web', annotations},
		spec: {
			replicas: 3,
			selector: {matchLabels: {app: 'web'}},
			template: {
				metadata: {labels: {app: 'web'}},
				spec: {containers: [{name: 'main', image: 'any', command: ['run', version]}], terminationGracePeriodSeconds: 0},
			},
			...spec,
		},
	});

/** Fits on no node. */
const nowhere = (version: string): object => {
	const {spec} = JSON.parse(manifest(version)) as {spec: {template: {spec: object}}};
	return {template: {...spec.template, spec: {...spec.template.spec, nodeSelector: {disk: 'none'}}}, progressDeadlineSeconds: 1};
};

async function open(t: ExecutionContext) {
	const {home, up} = await detached(t, '--runtime=simulated', '--store=memory');
	t.is(up.code, 0, up.err);
	const troupe = (...args: readonly string[]) => line(args, {home});
	const apply = (text: string) => line(['apply', '-f', '-'], {home, input: text});
	const rollout = async (...args: readonly string[]): Promise<string> => {
		const ran = await troupe('rollout', ...args);
		t.is(ran.code, 0, ran.err);
		return ran.out;
	};
	const read = async (): Promise<Deployment> => JSON.parse((await troupe('get', 'deploy', 'web', '-o', 'json')).out) as Deployment;
	return {troupe, apply, rollout, read};
}

test('an update is followed, told of, undone, paused and restarted', async t => {
	const {troupe, apply, rollout, read} = await open(t);
	t.is((await apply(manifest('one', {}, {'kubernetes.io/change-cause': 'the first'}))).out, 'deployment.apps/web created\n');
	t.regex(await rollout('status', 'deployment/web'), /deployment "web" successfully rolled out\n$/);
	t.is(await rollout('status', 'deploy', 'web', '--watch=false'), 'deployment "web" successfully rolled out\n');
	t.is((await apply(manifest('two'))).code, 0);
	t.regex(
		await rollout('status', 'deployment/web', '--timeout', '30s'),
		/^(Waiting for deployment .*\n)*deployment "web" successfully rolled out\n$/,
	);
	t.is(
		await rollout('history', 'deployment/web'),
		'deployment.apps/web\nREVISION   CHANGE-CAUSE\n1          the first\n2          <none>\n\n',
	);
	t.regex(
		await rollout('history', 'deployment/web', '--revision', '1'),
		/^deployment\.apps\/web with revision #1\nPod Template:\n {2}Labels: +app=web\n {2}Containers:\n {3}main:\n {4}Image: +any\n {4}Command: +run\n +one\n/,
	);
	t.is(await rollout('undo', 'deployment/web', '--dry-run'), 'deployment.apps/web rolled back (dry run)\n');
	t.is(await rollout('undo', 'deployment/web'), 'deployment.apps/web rolled back\n');
	await rollout('status', 'deployment/web');
	await rollout('status', 'deployment/web', '--revision', '3');
	const back = await read();
	t.deepEqual(back.spec?.template.spec.containers[0]?.command, ['run', 'one']);
	t.is(back.metadata.annotations?.['kubernetes.io/change-cause'], 'the first');
	t.regex(await rollout('history', 'deployment/web'), /\n2 +<none>\n3 +the first\n/);
	t.is(
		await rollout('undo', 'deployment/web', '--to-revision', '3'),
		'deployment.apps/web skipped rollback (current template already matches revision 3)\n',
	);
	t.is(await rollout('pause', 'deployment/web'), 'deployment.apps/web paused\n');
	t.is((await apply(manifest('three'))).code, 0);
	const refused: readonly (readonly [readonly string[], RegExp])[] = [
		[['pause'], /^error: deployments\.apps "web" is already paused\n$/],
		[['restart'], /^error: deployments\.apps "web" can't restart paused deployment \(run rollout resume first\)\n$/],
		[['undo'], /^error: you cannot rollback a paused deployment; resume it first with 'troupe rollout resume deployment\/web'/],
		[['status', '--timeout', '1s'], /^error: timed out waiting for the condition\n$/],
		[['status', '--revision', '7'], /^error: desired revision \(7\) is different from the running revision \(3\)\n$/],
		[['undo', '--to-revision', '9'], /unable to find specified revision 9 in history; there are 2, 3/],
	];
	for (const [[verb = '', ...flags], message] of refused) {
		const ran = await troupe('rollout', verb, 'deployment/web', ...flags);
		t.is(ran.code, 1, verb);
		t.regex(ran.err, message);
	}
	t.is(await rollout('resume', 'deployment/web'), 'deployment.apps/web resumed\n');
	t.regex((await troupe('rollout', 'resume', 'deployment/web')).err, /deployments\.apps "web" is not paused/);
	await rollout('status', 'deployment/web');
	t.is(await rollout('restart', 'deployment/web'), 'deployment.apps/web restarted\n');
	await rollout('status', 'deployment/web');
	t.regex((await read()).spec?.template.metadata?.annotations?.['kubectl.kubernetes.io/restartedAt'] ?? '', /^\d{4}-.*Z$/);
	t.is((await troupe('wait', 'deployment/web', '--for', 'condition=Available')).out, 'deployment.apps/web condition met\n');
	t.is((await troupe('scale', 'deployment/web', '--replicas', '5', '--wait')).out, 'deployment.apps/web scaled\n');
	t.regex((await troupe('get', 'deploy')).out, /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +5\/5 +5 +5 +\S+\n$/);
});

test('an update past its deadline ends the command with 1, and describe shows both versions', async t => {
	const {troupe, apply, rollout} = await open(t);
	await apply(manifest('one'));
	await rollout('status', 'deployment/web');
	await apply(manifest('two', nowhere('two')));
	const ran = await troupe('rollout', 'status', 'deployment/web');
	t.is(ran.code, 1);
	t.is(ran.err, 'error: deployment "web" exceeded its progress deadline\n');
	const {out} = await troupe('describe', 'deployment', 'web');
	t.regex(out, /Replicas: +3 desired \| 1 updated \| 4 total \| 3 available \| 1 unavailable\n/);
	t.regex(out, /StrategyType: +RollingUpdate\nMinReadySeconds: +0\nRollingUpdateStrategy: +25% max unavailable, 25% max surge\n/);
	t.regex(out, /Pod Template:\n {2}Labels: +app=web\n/);
	t.regex(out, /Progressing +False +ProgressDeadlineExceeded +ReplicaSet "web-\w+" has timed out progressing\./);
	t.regex(out, /OldReplicaSets: +web-\w+ \(3\/3 replicas created\)\nNewReplicaSet: +web-\w+ \(1\/1 replicas created\)\n/);
	t.regex(out, /ScalingReplicaSet +Scaled up replica set web-\w+ from 0 to 3\n/);
	// The way back has its time, however slow the machine is.
	t.is((await troupe('patch', 'deployment', 'web', '-p', '{"spec":{"progressDeadlineSeconds":600}}')).code, 0);
	t.is(await rollout('undo', 'deployment/web'), 'deployment.apps/web rolled back\n');
	t.regex(await rollout('status', 'deployment/web'), /successfully rolled out\n$/);
	t.is((await troupe('logs', 'deployment/web', '--tail', '0')).code, 0);
});

test('what makes no sense is said before anything is asked', async t => {
	const home = '/nowhere';
	const wrong: readonly (readonly [readonly string[], RegExp])[] = [
		[[], /rollout takes what to do/],
		[['udno', 'deployment/web'], /unknown verb "udno" of rollout; did you mean "undo"\?/],
		[['status'], /status of what\? as in: troupe rollout status deployment\/web/],
		[['pause', 'deployment/web', '--to-revision', '2'], /rollout pause takes no --to-revision/],
		[['undo', 'deployment/web', '--to-revision', '-1'], /--to-revision must be a whole number from 0 on/],
	];
	for (const [words, message] of wrong) {
		const ran = await line(['rollout', ...words], {home});
		t.is(ran.code, 2, words.join(' '));
		t.regex(ran.err, message);
	}
});

test('how far a rollout is, is said in kubectl’s words', t => {
	const at = (status: object, spec: object = {}, revision = 0): string => {
		const metadata = {name: 'web', generation: 2, annotations: {'deployment.kubernetes.io/revision': '4'}};
		const object = {apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: {replicas: 3, ...spec}, status};
		return deploymentRollout.statusOf(object as unknown as ApiObject, revision).text;
	};
	t.is(at({observedGeneration: 1}, {}, 5), 'Waiting for deployment spec update to be observed...');
	t.throws(() => at({observedGeneration: 2}, {}, 5), {message: 'desired revision (5) is different from the running revision (4)'});
	t.is(at({observedGeneration: 1}), 'Waiting for deployment spec update to be observed...');
	const seen = {observedGeneration: 2};
	t.is(at({...seen, updatedReplicas: 1}), 'Waiting for deployment "web" rollout to finish: 1 out of 3 new replicas have been updated...');
	t.is(
		at({...seen, updatedReplicas: 3, replicas: 5}),
		'Waiting for deployment "web" rollout to finish: 2 old replicas are pending termination...',
	);
	t.is(
		at({...seen, updatedReplicas: 3, replicas: 3, availableReplicas: 2}),
		'Waiting for deployment "web" rollout to finish: 2 of 3 updated replicas are available...',
	);
	t.is(at({...seen, updatedReplicas: 3, replicas: 3, availableReplicas: 3}), 'deployment "web" successfully rolled out');
	const conditions = [{type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded'}];
	t.is(conditionOf(conditions as never, 'Progressing')?.status, 'False');
	t.throws(() => at({...seen, conditions}), {instanceOf: AppError, message: 'deployment "web" exceeded its progress deadline'});
});
