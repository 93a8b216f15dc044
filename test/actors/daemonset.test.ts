// A DaemonSet: one pod on each node that fits, never two, and new ones for old within the bounds.

import test from 'ava';
import type {ControllerRevision} from '../../api/kinds/controllerrevision.js';
import type {DaemonSet, DaemonSetSpec} from '../../api/kinds/daemonset.js';
import type {NodeObject, Taint} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {timestampOf} from '../../api/object.js';
import {targetNode} from '../../actors/control/pods/pod-terms.js';
import {fitOf} from '../../actors/control/workloads/daemon-nodes.js';
import {wakesOf} from '../../actors/control/wakes.js';
import type {Effect} from '../../system/kernel/behavior.js';
import type {Known, ObjectIndex} from '../../system/index/object-index.js';
import {aDaemonSet, creates, daemonOn, look, withProgram, withRevision} from './_daemonsets.js';
import {aNode, aPod, contextWith, drop, indexOf, now, nowMs, openWrites, ownedBy, put, ready, scheduled} from './_objects.js';
import {tellRecord} from './_records.js';

const names = ['node-a', 'node-b', 'node-c'];
const nodes = names.map(name => aNode({name, metadata: {labels: {'kubernetes.io/hostname': name}}}));

const targets = (effects: readonly Effect[]): readonly (string | undefined)[] =>
	creates(effects, 'Pod').map(draft => targetNode(draft as Pick<Pod, 'spec'>));
const deletions = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect => (effect.type === 'delete' ? [effect.uid] : []));

/** Nodes a, b and c with a ready pod each of the set as it was, and the set with another template, whose revision is there. */
function halfway(spec: Partial<DaemonSetSpec> = {}) {
	const set = aDaemonSet(spec);
	const index = indexOf(set, ...nodes);
	const old = withRevision(index, set);
	const pods = names.map(name => daemonOn(index, set, name, old));
	const changed = withProgram(set, 'newer');
	put(index, changed);
	const fresh = withRevision(index, changed);
	return {index, set: changed, old, fresh, pods};
}

const effectsOf = (index: ObjectIndex, set: DaemonSet, overrides: Parameters<typeof contextWith>[1] = {}): readonly Effect[] =>
	look(index, set, overrides).effects;

const statusOf = (index: ObjectIndex, set: DaemonSet, atMs = nowMs) => look(index, set, {nowMs: atMs}).object?.status;

test('first comes the revision, then a pod for each node, that only this node takes', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const first = effectsOf(index, set);
	t.is(first.length, 1);
	t.deepEqual(effectsOf(index, set, {pending: openWrites(first)}), []);
	withRevision(index, set);
	const effects = effectsOf(index, set);
	t.deepEqual(targets(effects), names);
	const [pod] = creates(effects, 'Pod');
	t.regex(pod?.metadata.name ?? '', /^web-[a-z0-9]{10}$/);
	t.deepEqual(pod?.metadata.ownerReferences, [ownedBy(set)]);
	t.deepEqual(effectsOf(index, set, {pending: openWrites(effects)}), []);
});

test('its pods tolerate what every pod of a DaemonSet does, and what the template says', t => {
	const toleration = {key: 'dedicated', operator: 'Exists'} as const;
	const set = aDaemonSet();
	const template = {...set.spec?.template, spec: {containers: [], tolerations: [toleration]}};
	const own = aDaemonSet({template});
	const index = indexOf(own, ...nodes);
	withRevision(index, own);
	const [pod] = creates(effectsOf(index, own), 'Pod') as unknown as readonly Pod[];
	t.deepEqual(
		pod?.spec?.tolerations?.map(({key, effect}) => `${key}:${effect ?? ''}`),
		[
			'dedicated:',
			'node.kubernetes.io/not-ready:NoExecute',
			'node.kubernetes.io/unreachable:NoExecute',
			'node.kubernetes.io/disk-pressure:NoSchedule',
			'node.kubernetes.io/memory-pressure:NoSchedule',
			'node.kubernetes.io/pid-pressure:NoSchedule',
			'node.kubernetes.io/unschedulable:NoSchedule',
		],
	);
});

const tainted = (effect: Taint['effect'], key = 'dedicated'): NodeObject => aNode({name: 'node-a', spec: {taints: [{key, effect}]}});

test('a node fits by its selector, its affinity, its name and its taints', t => {
	const podSpec = aDaemonSet().spec?.template.spec;
	if (podSpec === undefined) return t.fail();
	const withSpec = (more: Partial<typeof podSpec>): DaemonSet => aDaemonSet({template: {spec: {...podSpec, ...more}}});
	const disk = aNode({metadata: {labels: {disk: 'ssd'}}});
	const term = {matchExpressions: [{key: 'disk', operator: 'Exists' as const}]};
	const affinity = {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [term]}}};
	t.is(fitOf(aDaemonSet(), aNode()), 'runs');
	for (const set of [withSpec({nodeSelector: {disk: 'ssd'}}), withSpec({affinity})])
		t.deepEqual([fitOf(set, disk), fitOf(set, aNode())], ['runs', 'leaves']);
	t.deepEqual([fitOf(withSpec({nodeName: 'node-a'}), aNode()), fitOf(withSpec({nodeName: 'other'}), aNode())], ['runs', 'leaves']);
	t.is(fitOf(aDaemonSet(), tainted('NoSchedule')), 'stays');
	t.is(fitOf(aDaemonSet(), tainted('NoExecute')), 'leaves');
	t.is(fitOf(aDaemonSet(), tainted('PreferNoSchedule')), 'runs');
	t.is(fitOf(aDaemonSet(), tainted('NoExecute', 'node.kubernetes.io/unreachable')), 'runs');
	t.is(fitOf(aDaemonSet(), aNode({spec: {unschedulable: true}})), 'runs');
});

test('a pod leaves a node that does not fit any more, stays where no new one would come, and goes with a node that is gone', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const revision = withRevision(index, set);
	const [a] = names.map(name => daemonOn(index, set, name, revision));
	t.deepEqual(effectsOf(index, set), []);
	put(index, tainted('NoSchedule'));
	t.deepEqual(effectsOf(index, set), []);
	t.like(statusOf(index, set), {desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 1});
	put(index, tainted('NoExecute'));
	t.deepEqual(deletions(effectsOf(index, set)), [a?.metadata.uid]);
	drop(index, tainted('NoExecute'));
	t.deepEqual(deletions(effectsOf(index, set)), [a?.metadata.uid]);
});

test('where a pod is being deleted the next one waits until it is gone for good', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const revision = withRevision(index, set);
	names.forEach(name => daemonOn(index, set, name, revision, {metadata: name === 'node-a' ? {deletionTimestamp: now} : {}}));
	t.deepEqual(targets(effectsOf(index, set)), []);
	const [leaving] = [...index.list('pods')].filter(({metadata}) => metadata.deletionTimestamp !== undefined);
	if (leaving === undefined) return t.fail();
	drop(index, leaving);
	t.deepEqual(targets(effectsOf(index, set)), ['node-a']);
});

test('a set that crashed asks again for pods of the same names, whatever became of its template', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	withRevision(index, set);
	const podNames = (of: DaemonSet): readonly (string | undefined)[] =>
		creates(effectsOf(index, of), 'Pod').map(({metadata}) => metadata.name);
	const first = podNames(set);
	const changed = withProgram(set, 'newer');
	put(index, changed);
	withRevision(index, changed);
	t.deepEqual(podNames(changed), first);
	t.is(new Set(first).size, 3);
});

test('a name that another pod has is not waited for', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	withRevision(index, set);
	const [first] = creates(effectsOf(index, set), 'Pod');
	put(index, aPod({name: first?.metadata.name ?? ''}));
	const [second] = creates(effectsOf(index, set), 'Pod');
	t.deepEqual(targets(effectsOf(index, set)), names);
	t.not(second?.metadata.name, first?.metadata.name);
});

test('of two pods on a node the younger goes', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const revision = withRevision(index, set);
	names.forEach(name => daemonOn(index, set, name, revision));
	const younger = daemonOn(index, set, 'node-b', revision, {metadata: {creationTimestamp: now}});
	t.deepEqual(deletions(effectsOf(index, set)), [younger.metadata.uid]);
});

test('a rolling update replaces one pod at a time, those of no use at once', t => {
	const {index, set, pods, fresh} = halfway();
	const first = effectsOf(index, set);
	t.deepEqual(deletions(first), [pods[0]?.metadata.uid]);
	t.deepEqual(effectsOf(index, set, {pending: openWrites(first)}), []);
	const [a, b] = pods;
	if (a === undefined || b === undefined) return t.fail();
	drop(index, a);
	t.deepEqual(targets(effectsOf(index, set)), ['node-a']);
	const starting = daemonOn(index, set, 'node-a', fresh, {status: {phase: 'Pending'}});
	t.deepEqual(effectsOf(index, set), []);
	t.like(statusOf(index, set), {updatedNumberScheduled: 1, numberAvailable: 2, numberUnavailable: 1, observedGeneration: 2});
	put(index, {...b, status: {phase: 'Running', conditions: [scheduled]}});
	t.deepEqual(deletions(effectsOf(index, set)), [b.metadata.uid]);
	put(index, b);
	put(index, {...starting, status: {phase: 'Running', conditions: [scheduled, ready]}});
	t.deepEqual(deletions(effectsOf(index, set)), [b.metadata.uid]);
});

test('two may be missing, or a part, rounded up', t => {
	for (const maxUnavailable of [2, '50%']) {
		const {index, set} = halfway({updateStrategy: {type: 'RollingUpdate', rollingUpdate: {maxUnavailable, maxSurge: 0}}});
		t.is(deletions(effectsOf(index, set)).length, 2);
	}
});

test('a new pod counts only after minReadySeconds', t => {
	const {index, set, pods, fresh} = halfway({minReadySeconds: 10});
	const [a] = pods;
	if (a === undefined) return t.fail();
	drop(index, a);
	const readyNow = {...ready, lastTransitionTime: timestampOf(nowMs)};
	daemonOn(index, set, 'node-a', fresh, {status: {phase: 'Running', conditions: [scheduled, readyNow]}});
	const played = look(index, set);
	t.deepEqual(deletions(played.effects), []);
	t.true(played.effects.some(effect => effect.type === 'wakeAt' && effect.atMs === nowMs + 10_000));
	t.is(deletions(effectsOf(index, set, {nowMs: nowMs + 10_000})).length, 1);
});

test('with a surge the old pod goes once the new one can be relied on', t => {
	const {index, set, pods, fresh} = halfway({updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}});
	const first = effectsOf(index, set);
	t.deepEqual([deletions(first), targets(first)], [[], ['node-a']]);
	t.deepEqual(effectsOf(index, set, {pending: openWrites(first)}), []);
	const starting = daemonOn(index, set, 'node-a', fresh, {status: {phase: 'Pending'}, metadata: {creationTimestamp: now}});
	t.deepEqual(effectsOf(index, set), []);
	put(index, {...starting, status: {phase: 'Running', conditions: [scheduled, ready]}});
	const last = effectsOf(index, set);
	t.deepEqual([deletions(last), targets(last)], [[pods[0]?.metadata.uid], []]);
});

test('OnDelete of a DaemonSet replaces only what somebody deletes', t => {
	const {index, set, pods} = halfway({updateStrategy: {type: 'OnDelete'}});
	t.deepEqual(effectsOf(index, set), []);
	const [a] = pods;
	if (a === undefined) return t.fail();
	drop(index, a);
	t.deepEqual(targets(effectsOf(index, set)), ['node-a']);
});

test('a pod that is over is replaced after a while', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const revision = withRevision(index, set);
	const ended = {type: 'Ready', status: 'False', lastTransitionTime: timestampOf(nowMs)} as const;
	const [a] = names.map(name =>
		daemonOn(index, set, name, revision, name === 'node-a' ? {status: {phase: 'Failed', conditions: [ended]}} : {}),
	);
	const {effects} = look(index, set);
	t.deepEqual([deletions(effects), targets(effects)], [[], []]);
	t.true(effects.some(effect => effect.type === 'wakeAt' && effect.atMs === nowMs + limits.failedDaemonPodMs));
	t.deepEqual(deletions(effectsOf(index, set, {nowMs: nowMs + limits.failedDaemonPodMs})), [a?.metadata.uid]);
});

test('pods without a controller that match are taken, others of its own let go', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	withRevision(index, set);
	put(index, aPod({name: 'stray', metadata: {labels: {app: 'web'}}}));
	const adopted = effectsOf(index, set).filter(effect => effect.type === 'update');
	t.deepEqual(
		adopted.map(({id}) => id),
		['adopt/uid-of-stray'],
	);
});

test('a template that was there before gets its old revision under a new number', t => {
	const {index, set, old} = halfway();
	const back: DaemonSet = {...withProgram(set, 'program'), metadata: {...set.metadata, generation: 3}};
	const original = {
		...back,
		...(set.spec === undefined ? {} : {spec: {...set.spec, template: aDaemonSet().spec?.template ?? set.spec.template}}),
	};
	put(index, original);
	const effects = effectsOf(index, original);
	t.deepEqual(creates(effects, 'ControllerRevision'), []);
	t.like(
		effects.find(effect => effect.type === 'update'),
		{id: `renumber/${old.metadata.uid}`, message: {type: 'patch', patch: {revision: 3}}},
	);
});

test('a revision with the last number there is does not keep the set from its next one', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const last: ControllerRevision = {...withRevision(index, set), revision: Number.MAX_SAFE_INTEGER};
	put(index, last);
	const next = withProgram(set, 'another');
	put(index, next);
	t.like(creates(effectsOf(index, next), 'ControllerRevision')[0], {revision: Number.MAX_SAFE_INTEGER});
});

test('a revision is a patch that puts the template back', t => {
	const set = aDaemonSet({}, {annotations: {'kubernetes.io/change-cause': 'first'}});
	const index = indexOf(set, ...nodes);
	const revision = withRevision(index, set);
	t.deepEqual(revision.data as unknown, {spec: {template: {...set.spec?.template, $patch: 'replace'}}});
	t.is(revision.revision, 1);
	t.deepEqual(revision.metadata.annotations, {'kubernetes.io/change-cause': 'first'});
	t.is(revision.metadata.labels?.['app'], 'web');
});

test('of revisions without pods so many are kept, the oldest go', t => {
	const set = aDaemonSet({revisionHistoryLimit: 2});
	const index = indexOf(set);
	const revisions: ControllerRevision[] = [];
	let present = set;
	for (let i = 0; i < 5; i++) {
		present = withProgram(set, `program-${i}`);
		put(index, present);
		revisions.push(withRevision(index, present));
	}
	t.deepEqual(deletions(effectsOf(index, present)), [revisions[0]?.metadata.uid, revisions[1]?.metadata.uid]);
	// One that a pod is of stays.
	put(index, nodes[0] ?? aNode());
	const [first] = revisions;
	if (first === undefined) return t.fail();
	daemonOn(index, set, 'node-a', first);
	t.false(deletions(effectsOf(index, present)).includes(first.metadata.uid));
});

test('revisions and pods that a set left behind are taken by the next of its name', t => {
	const set = aDaemonSet();
	const index = indexOf(set, ...nodes);
	const revision = withRevision(index, set);
	const {ownerReferences: _owners, ...metadata} = revision.metadata;
	put(index, {...revision, metadata});
	const next = aDaemonSet({}, {uid: 'uid-of-next'});
	put(index, next);
	const effects = effectsOf(index, next);
	t.deepEqual(creates(effects, 'ControllerRevision'), []);
	t.deepEqual(
		effects.flatMap(effect => (effect.type === 'update' ? [effect.id] : [])),
		[`adopt/${revision.metadata.uid}`],
	);
});

test('a node that comes, goes, or is another one wakes the sets that look at it otherwise', t => {
	const set = aDaemonSet();
	const elsewhere = aDaemonSet({template: {spec: {containers: [], nodeSelector: {disk: 'ssd'}}}}, {name: 'disks', uid: 'uid-of-disks'});
	const index = indexOf(set, elsewhere);
	const woken = (node: NodeObject | undefined): readonly string[] => {
		const change = node === undefined ? drop(index, aNode()) : put(index, node);
		return wakesOf(change, index).flatMap(({to}) => (to.includes('/daemonsets/') ? [to.slice(to.lastIndexOf('/') + 1)] : []));
	};
	t.deepEqual(woken(aNode()), ['default.web']);
	t.deepEqual(woken(aNode({status: {conditions: []}})), []);
	t.deepEqual(woken(aNode({metadata: {labels: {disk: 'ssd'}}})), ['default.disks']);
	t.deepEqual(woken(tainted('NoExecute')), ['default.web', 'default.disks']);
	t.deepEqual(woken(undefined), []);
});

test('of a complete set of a thousand nodes the change of one pod walks neither nodes nor pods', t => {
	const set = aDaemonSet();
	const index = indexOf(set);
	for (let i = 0; i < 1_000; i++) put(index, aNode({name: `node-${i}`}));
	const revision = withRevision(index, set);
	const pods = Array.from({length: 1_000}, (_, i) => daemonOn(index, set, `node-${i}`, revision));
	tellRecord(set, [{type: 'wake'}], contextWith(index));
	let visits = 0;
	const counted = new Proxy(index, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== 'function') return value;
			return (...words: readonly unknown[]): unknown => {
				const found: unknown = Reflect.apply(value as (...all: readonly unknown[]) => unknown, target, words);
				if (name !== 'list' && name !== 'byTerm' && name !== 'select' && name !== 'byOwner') return found;
				return [...(found as Iterable<unknown>)].map(each => {
					visits++;
					return each;
				});
			};
		},
	}) as Known;
	const [first] = pods;
	if (first === undefined) return t.fail();
	put(index, {...first, status: {phase: 'Running', conditions: [scheduled]}});
	const played = tellRecord(set, [{type: 'wake'}], contextWith(counted));
	t.deepEqual(played.effects, []);
	t.like(played.object?.status, {desiredNumberScheduled: 1_000, numberReady: 999, numberAvailable: 999, numberUnavailable: 1});
	t.true(visits <= 5, `${visits} visits`);
	// One is gone: it is found.
	drop(index, first);
	t.deepEqual(targets(effectsOf(index, set)), ['node-0']);
});

test('many creates are under way at once, and no more than may be', t => {
	const set = aDaemonSet();
	const index = indexOf(set);
	for (let i = 0; i < 1_000; i++) put(index, aNode({name: `node-${i}`}));
	const revision = withRevision(index, set);
	t.is(creates(effectsOf(index, set), 'Pod').length, limits.firstCreates);
	for (let i = 0; i < 500; i++) daemonOn(index, set, `node-${i}`, revision);
	const effects = effectsOf(index, set);
	t.is(creates(effects, 'Pod').length, limits.pendingWrites);
	t.deepEqual(effectsOf(index, set, {pending: openWrites(effects)}), []);
});

test('a set that is being deleted makes nothing', t => {
	const set = aDaemonSet({}, {deletionTimestamp: now, finalizers: ['held/by']});
	t.deepEqual(effectsOf(indexOf(set, ...nodes), set), []);
});
