// Pods of one template, replaced step by step: which sets there are, how large each is, and what the Deployment says of itself.

import test from 'ava';
import {failure} from '../../api/errors.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {isSameTemplate} from '../../actors/control/workloads/template-hash.js';
import {aDeployment, aReplicaSet, aTemplate, contextWith, indexOf, keyOf, nowMs, openWrites, ownedBy, put} from './_objects.js';
import {tellRecord} from './_records.js';
import {testOrders} from './_rollout-orders.js';
import {Rollout} from './_rollouts.js';

const first = aTemplate('first');
const second = aTemplate('second');
const third = aTemplate('third');
const rolling = (maxSurge: number | string, maxUnavailable: number | string) =>
	({type: 'RollingUpdate', rollingUpdate: {maxSurge, maxUnavailable}}) as const;

const revisionOf = ({metadata}: ReplicaSet): string | undefined => metadata.annotations?.['deployment.kubernetes.io/revision'];
const versionIn = (value: unknown): string | undefined => /first|second|third/.exec(JSON.stringify(value))?.[0];
const versionOf = ({spec}: ReplicaSet | Pod): string | undefined => versionIn(spec);
const setOf = (rollout: Rollout, version: string): ReplicaSet => {
	const found = rollout.sets.find(set => versionOf(set) === version);
	if (found === undefined) throw new Error(`no set of ${version}`);
	return found;
};
const isOf =
	(version: string) =>
	(pod: Pod): boolean =>
		versionOf(pod) === version;

/** A Deployment whose pods all serve. */
function running(spec: Deployment['spec'] | object = {}, seed = 1): Rollout {
	const rollout = new Rollout(aDeployment({spec: {replicas: 10, ...spec}}), seed);
	rollout.run();
	return rollout;
}

test('a template has one set, named after it, whose pods nobody else selects', t => {
	const rollout = running({replicas: 3, minReadySeconds: 0});
	const [set] = rollout.sets;
	const hash = set?.metadata.labels?.['pod-template-hash'] ?? '';
	t.regex(hash, /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
	t.like(set, {
		metadata: {
			name: `web-${hash}`,
			labels: {app: 'web', 'pod-template-hash': hash},
			annotations: {
				'deployment.kubernetes.io/revision': '1',
				'deployment.kubernetes.io/desired-replicas': '3',
				'deployment.kubernetes.io/max-replicas': '4',
			},
			ownerReferences: [ownedBy(rollout.deployment)],
		},
		spec: {replicas: 3, selector: {matchLabels: {app: 'web', 'pod-template-hash': hash}}},
	});
	t.deepEqual(set?.spec?.template.metadata?.labels, {app: 'web', 'pod-template-hash': hash});
	t.is(rollout.pods.length, 3);
	t.is(rollout.deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
	t.deepEqual(
		rollout.events.filter(({reason}) => reason === 'ScalingReplicaSet').map(({message}) => message),
		[`Scaled up replica set web-${hash} from 0 to 3`],
	);
});

test('a second look at the same moment asks for nothing', t => {
	const deployment = aDeployment();
	const index = indexOf(deployment);
	const {effects, object} = tellRecord(deployment, [{type: 'wake'}], contextWith(index));
	t.deepEqual(
		effects.map(({type}) => type),
		['create', 'event', 'wakeAt'],
	);
	put(index, object as Deployment);
	const again = tellRecord(object as Deployment, [{type: 'wake'}], contextWith(index, {pending: openWrites(effects)}));
	t.deepEqual(
		again.effects.filter(({type}) => type !== 'wakeAt'),
		[],
	);
	t.is(again.object, object);
	const crashed = tellRecord(object as Deployment, [{type: 'wake'}], contextWith(index));
	t.deepEqual(crashed.effects[0], effects[0]);
});

test('the status counts, says what is done, and is written only when it changes', t => {
	const rollout = running({replicas: 4});
	const {conditions, ...counts} = rollout.deployment.status ?? {};
	t.deepEqual(counts, {
		observedGeneration: 1,
		replicas: 4,
		updatedReplicas: 4,
		readyReplicas: 4,
		availableReplicas: 4,
		unavailableReplicas: 0,
	});
	const [set] = rollout.sets;
	t.like(rollout.condition('Available'), {
		status: 'True',
		reason: 'MinimumReplicasAvailable',
		message: 'Deployment has minimum availability.',
	});
	t.like(rollout.condition('Progressing'), {
		status: 'True',
		reason: 'NewReplicaSetAvailable',
		message: `ReplicaSet "${set?.metadata.name ?? ''}" has successfully progressed.`,
	});
	const before = rollout.deployment;
	rollout.look(keyOf(before));
	t.is(rollout.deployment, before);
	t.is(conditions?.length, 2);
});

test('another template rolls over within both bounds, and keeps the old set for the way back', t => {
	for (let seed = 1; seed <= 30; seed++) {
		const rollout = running({strategy: rolling(3, 2)}, seed);
		rollout.change({template: second});
		rollout.run();
		t.deepEqual(rollout.sizes, [0, 10]);
		t.true(rollout.pods.every(isOf('second')));
		t.deepEqual(rollout.judge.violations, []);
		t.true(rollout.judge.mostPods > 10 && rollout.judge.mostPods <= 13);
		t.true(rollout.judge.leastAvailable >= 8);
		t.is(rollout.judge.voluntary, 10);
		t.is(rollout.condition('Progressing').reason, 'NewReplicaSetAvailable');
	}
});

test('parts are rounded: surge up, unavailable down, and where both come to nothing one pod may be missing', t => {
	const rollout = running({replicas: 3, strategy: rolling('25%', '30%')});
	rollout.change({template: second});
	rollout.run();
	t.is(rollout.judge.mostPods, 4);
	t.is(rollout.judge.leastAvailable, 3);
	const tight = running({replicas: 3, strategy: rolling(0, '10%')});
	tight.change({template: second});
	tight.run();
	t.deepEqual(tight.sizes, [0, 3]);
	t.is(tight.judge.mostPods, 3);
	t.is(tight.judge.leastAvailable, 2);
});

test('a template that does not work stays within the bounds, and is told after the deadline', t => {
	const rollout = running({strategy: rolling(3, 2), progressDeadlineSeconds: 60});
	rollout.isBad = isOf('second');
	rollout.change({template: second});
	rollout.run();
	t.deepEqual(rollout.sizes, [8, 5]);
	t.deepEqual(rollout.judge.violations, []);
	t.is(rollout.condition('Progressing').reason, 'ReplicaSetUpdated');
	const dueMs = rollout.wakesAtMs.get(keyOf(rollout.deployment)) ?? 0;
	t.is(dueMs, nowMs + 60_001);
	rollout.nowMs = dueMs - 1;
	rollout.look(keyOf(rollout.deployment));
	t.is(rollout.condition('Progressing').status, 'True');
	rollout.nowMs = dueMs;
	rollout.look(keyOf(rollout.deployment));
	const bad = setOf(rollout, 'second').metadata.name;
	t.like(rollout.condition('Progressing'), {
		status: 'False',
		reason: 'ProgressDeadlineExceeded',
		message: `ReplicaSet "${bad}" has timed out progressing.`,
	});
	rollout.change({template: first});
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 10]);
	t.deepEqual(rollout.judge.violations, []);
	t.is(rollout.condition('Progressing').reason, 'NewReplicaSetAvailable');
});

test('the template of an old set makes that one the newest again, with a revision of its own', t => {
	const rollout = running();
	const cause = 'kubernetes.io/change-cause';
	rollout.change({template: second}, {[cause]: 'second try'});
	rollout.run();
	t.is(setOf(rollout, 'second').metadata.annotations?.[cause], 'second try');
	t.is(setOf(rollout, 'first').metadata.annotations?.[cause], undefined);
	rollout.change({template: first}, {[cause]: 'back'});
	rollout.run();
	t.is(rollout.sets.length, 2);
	t.is(revisionOf(setOf(rollout, 'first')), '3');
	t.like(setOf(rollout, 'first').metadata.annotations, {'deployment.kubernetes.io/revision-history': '1', [cause]: 'back'});
	t.is(revisionOf(setOf(rollout, 'second')), '2');
	t.is(rollout.deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
	t.deepEqual(rollout.sizes, [0, 10]);
});

test('a rollback in the middle turns round at once', t => {
	const rollout = running();
	rollout.change({template: second});
	rollout.run(() => setOf2(rollout) >= 5);
	rollout.change({template: first});
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 10]);
	t.true(rollout.pods.every(isOf('first')));
	t.deepEqual(rollout.judge.violations, []);
});

const setOf2 = ({sets}: Rollout): number => sets.find(set => versionOf(set) === 'second')?.spec?.replicas ?? 0;

test('a template after another one takes over in the middle', t => {
	const rollout = running();
	rollout.change({template: second});
	rollout.run(() => setOf2(rollout) >= 5);
	rollout.change({template: third});
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 0, 10]);
	t.deepEqual(rollout.judge.violations, []);
});

test('Recreate makes no pod before all others are gone for good', t => {
	for (let seed = 1; seed <= 20; seed++) {
		const rollout = running({replicas: 4, strategy: {type: 'Recreate'}}, seed);
		rollout.change({template: second});
		rollout.run();
		t.deepEqual(rollout.sizes, [0, 4]);
		t.deepEqual(rollout.judge.violations, []);
		t.is(rollout.judge.mostPods, 4);
		t.is(rollout.condition('Progressing').reason, 'NewReplicaSetAvailable');
	}
});

test('with Recreate a set is not scaled up either before the pods of others are gone', t => {
	const rollout = running({replicas: 3, strategy: {type: 'Recreate'}});
	rollout.change({template: second});
	rollout.run(() => rollout.pods.some(({metadata}) => metadata.deletionTimestamp !== undefined));
	rollout.change({template: first, replicas: 5, paused: true});
	rollout.run();
	rollout.change({paused: false});
	rollout.run();
	t.is(rollout.pods.length, 5);
	t.deepEqual(rollout.judge.violations, []);
});

test('while it is paused a template waits, scaling goes on, and no deadline runs', t => {
	const rollout = running({progressDeadlineSeconds: 10});
	rollout.change({paused: true});
	rollout.run();
	t.like(rollout.condition('Progressing'), {status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused'});
	rollout.change({template: second});
	rollout.run();
	t.is(rollout.sets.length, 1);
	rollout.change({replicas: 12});
	rollout.run();
	t.deepEqual(rollout.sizes, [12]);
	rollout.nowMs += 3_600_000;
	rollout.look(keyOf(rollout.deployment));
	t.is(rollout.condition('Progressing').reason, 'DeploymentPaused');
	rollout.change({paused: false});
	rollout.run(() => rollout.condition('Progressing').reason !== 'DeploymentPaused');
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 12]);
	t.deepEqual(rollout.judge.violations, []);
	const plain = running();
	plain.change({paused: true});
	plain.run();
	plain.change({paused: false});
	plain.run(() => plain.condition('Progressing').reason !== 'DeploymentPaused');
	t.like(plain.condition('Progressing'), {status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed'});
});

test('another size in the middle of an update is shared by the sets as they are', t => {
	const rollout = running({strategy: rolling(3, 2)});
	rollout.isBad = isOf('second');
	rollout.change({template: second});
	rollout.run();
	t.deepEqual(rollout.sizes, [8, 5]);
	rollout.change({replicas: 30, paused: true});
	rollout.run();
	// 33 pods may be there instead of 13: 8 × 33 / 13 and 5 × 33 / 13.
	t.deepEqual(rollout.sizes, [20, 13]);
	rollout.change({replicas: 10});
	rollout.run();
	t.deepEqual(rollout.sizes, [8, 5]);
	t.deepEqual(rollout.judge.violations, []);
	rollout.isBad = () => false;
	rollout.change({paused: false});
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 10]);
	rollout.change({replicas: 0});
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 0]);
	t.is(rollout.pods.length, 0);
});

test('pods that serve nobody go before those that do when an update is made smaller', t => {
	const rollout = running({strategy: rolling(8, 0)});
	rollout.isBad = isOf('second');
	rollout.change({template: second});
	rollout.run();
	t.deepEqual(rollout.sizes, [10, 8]);
	rollout.change({replicas: 8, paused: true});
	rollout.run();
	// By their share 9 and 7 of 16; all of the 8 that have to serve are of the first.
	t.is(
		rollout.sizes.reduce((sum, size) => sum + size, 0),
		16,
	);
	t.true((rollout.sizes[0] ?? 0) >= 8);
	t.deepEqual(rollout.judge.violations, []);
});

test('old pods that serve nobody do not hold up an update', t => {
	const rollout = running({strategy: rolling(0, 1)});
	for (const pod of rollout.pods.slice(0, 6)) rollout.fail(pod);
	rollout.isBad = isOf('first');
	rollout.change({template: second});
	rollout.run();
	t.deepEqual(rollout.sizes, [0, 10]);
	t.deepEqual(rollout.judge.violations, []);
});

test('a pod counts once it was ready for minReadySeconds, also in an update', t => {
	const rollout = new Rollout(aDeployment({spec: {replicas: 2, minReadySeconds: 30, strategy: rolling(1, 0)}}));
	rollout.run();
	t.like(rollout.deployment.status, {readyReplicas: 2, availableReplicas: 0});
	t.is(rollout.wakesAtMs.get(keyOf(rollout.deployment)), nowMs + 30_000);
	t.is(rollout.condition('Available').reason, 'MinimumReplicasUnavailable');
	rollout.nowMs += 30_000;
	for (const object of [...rollout.sets, rollout.deployment]) rollout.look(keyOf(object));
	rollout.run();
	t.is(rollout.condition('Progressing').reason, 'NewReplicaSetAvailable');
	rollout.change({template: second});
	rollout.run();
	t.deepEqual(rollout.sizes, [2, 1]);
	rollout.change({minReadySeconds: 5});
	rollout.run();
	t.is(setOf(rollout, 'second').spec?.minReadySeconds, 5);
});

test('of earlier versions only so many are kept, the oldest go', t => {
	const rollout = running({revisionHistoryLimit: 1});
	for (const template of [second, third]) {
		rollout.change({template});
		rollout.run();
	}
	t.deepEqual(rollout.sets.map(versionOf).sort(), ['second', 'third']);
	rollout.change({revisionHistoryLimit: 0});
	rollout.run();
	t.deepEqual(rollout.sets.map(versionOf), ['third']);
});

test('a set with the last revision there is does not take theirs from later ones', t => {
	const rollout = running({replicas: 1});
	const set = setOf(rollout, 'first');
	const last = String(Number.MAX_SAFE_INTEGER);
	const annotations = {...set.metadata.annotations, 'deployment.kubernetes.io/revision': last};
	put(rollout.index, {...set, metadata: {...set.metadata, annotations}});
	rollout.change({template: second});
	rollout.run();
	t.is(revisionOf(setOf(rollout, 'second')), last);
	t.is(rollout.deployment.metadata.annotations?.['deployment.kubernetes.io/revision'], last);
});

test('a set of somebody else with the name of the new one is a collision: another name is taken', t => {
	const alone = running({replicas: 1});
	const name = alone.sets[0]?.metadata.name ?? '';
	const foreign = aReplicaSet({name: 'else', metadata: {name}, spec: {replicas: 0}, status: {observedGeneration: 1}});
	const rollout = new Rollout(aDeployment({spec: {replicas: 1}}), 1, foreign);
	rollout.run();
	t.is(rollout.deployment.status?.collisionCount, 1);
	const mine = rollout.sets.find(({metadata}) => metadata.name !== name);
	t.is(mine?.spec?.replicas, 1);
	t.is(rollout.pods.length, 1);
});

test('sets that match and have no controller are adopted; one that does not match any more is let go', t => {
	const template = aTemplate('first');
	const stray = aReplicaSet({
		name: 'stray',
		metadata: {labels: {app: 'web'}, resourceVersion: '7'},
		spec: {replicas: 1, selector: {matchLabels: {app: 'web'}}, template},
		status: {observedGeneration: 1},
	});
	const rollout = new Rollout(aDeployment({spec: {replicas: 1}}), 1, stray);
	rollout.run();
	t.deepEqual(
		rollout.sets.map(({metadata}) => metadata.ownerReferences?.[0]?.name),
		['web'],
	);
	t.is(rollout.condition('Progressing').reason, 'NewReplicaSetAvailable');
	t.is(revisionOf(rollout.sets[0] as ReplicaSet), '1');
	const deployment = aDeployment();
	const strange = aReplicaSet({name: 'strange', metadata: {labels: {app: 'x'}, ownerReferences: [ownedBy(deployment)]}});
	const {effects} = tellRecord(deployment, [{type: 'wake'}], contextWith(indexOf(deployment, strange)));
	t.deepEqual(
		effects.filter(({type}) => type === 'update' || type === 'create').map(effect => 'id' in effect && effect.id),
		['release/uid-of-set-strange'],
	);
});

test('a template whose containers have empty resources is the one without any: kubectl writes one so when it takes a Deployment back', t => {
	const withResources = (resources: object | undefined) => ({
		...first,
		spec: {
			...first.spec,
			containers: first.spec.containers.map(container => ({...container, ...(resources === undefined ? {} : {resources})})),
		},
	});
	t.true(isSameTemplate(first, withResources({})));
	t.true(isSameTemplate(withResources({}), first));
	t.false(isSameTemplate(first, withResources({limits: {cpu: '1'}})));
	t.false(isSameTemplate(withResources({}), second));
});

test('no step is taken while a set has not seen its spec', t => {
	const rollout = running({replicas: 2});
	const {deployment} = rollout;
	const [set] = rollout.sets;
	const late = {...(set as ReplicaSet), metadata: {...(set as ReplicaSet).metadata, generation: 9}};
	put(rollout.index, late);
	const another = {...deployment, spec: {...deployment.spec, template: second}} as Deployment;
	const {effects} = tellRecord(another, [{type: 'wake'}], contextWith(rollout.index, {nowMs: rollout.nowMs}));
	t.deepEqual(
		effects.filter(({type}) => type !== 'wakeAt'),
		[],
	);
});

test('what keeps the newest set from having pods is said', t => {
	const rollout = new Rollout(aDeployment());
	rollout.run(() => rollout.sets.length > 0);
	const [set] = rollout.sets as [ReplicaSet];
	const refused = {type: 'outcome', id: 'create/x', outcome: {ok: false, error: failure('ERR_FORBIDDEN', {message: 'exceeded quota: q'})}};
	const context = contextWith(rollout.index);
	const {state} = tellRecord(set, [refused], context);
	put(rollout.index, tellRecord(set, [{type: 'retry'}], context, state).object as ReplicaSet);
	rollout.look(keyOf(rollout.deployment));
	t.like(rollout.condition('ReplicaFailure'), {status: 'True', reason: 'FailedCreate', message: 'exceeded quota: q'});
});

test('a set that cannot be made is said to be refused', t => {
	const deployment = aDeployment();
	const error = failure('ERR_FORBIDDEN', {message: 'exceeded quota: q'});
	const {state} = tellRecord(deployment, [{type: 'outcome', id: 'create/web-x', outcome: {ok: false, error}}], contextWith(indexOf()));
	const {object} = tellRecord(deployment, [{type: 'retry'}], contextWith(indexOf(deployment)), state);
	const progress = (object as Deployment).status?.conditions?.find(({type}) => type === 'Progressing');
	t.like(progress, {status: 'False', reason: 'ReplicaSetCreateError', message: 'exceeded quota: q'});
});

testOrders(test, 1, 30);
