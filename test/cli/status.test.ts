// How a cluster is: what counts as wrong, what is on its way, and the screen that tells it.

import test from 'ava';
import type {ActorTree} from '../../api/inspect.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ApiObject} from '../../api/object.js';
import {createColors} from 'picocolors';
import {drawStatus} from '../../cli/status/draw.js';
import {judge} from '../../cli/status/judge.js';
import type {Seen} from '../../cli/status/seen.js';
import {actorTree} from '../api/_actor-tree.js';

const nowMs = Date.parse('2030-01-01T00:10:00Z');
const ago = (seconds: number): string => new Date(nowMs - seconds * 1_000).toISOString();

const made = (kind: string, name: string, more: object = {}, owner?: string): ApiObject =>
	({
		apiVersion: 'v1',
		kind,
		metadata: {
			name,
			namespace: kind === 'Node' ? undefined : 'default',
			uid: name,
			creationTimestamp: ago(600),
			...(owner === undefined ? {} : {ownerReferences: [{kind: 'Any', name: owner, uid: owner, controller: true}]}),
		},
		...more,
	}) as unknown as ApiObject;

const ready = (is: 'True' | 'False' | 'Unknown', more: object = {}): object => ({conditions: [{type: 'Ready', status: is, ...more}]});
const node = (name: string, status: object, spec: object = {}): NodeObject => made('Node', name, {spec, status}) as NodeObject;

const running = {
	phase: 'Running',
	...ready('True'),
	containerStatuses: [{name: 'app', ready: true, restartCount: 0, state: {running: {startedAt: ago(500)}}}],
};
const crashing = {
	phase: 'Running',
	...ready('False'),
	containerStatuses: [
		{name: 'app', ready: false, restartCount: 4, state: {waiting: {reason: 'CrashLoopBackOff'}}, lastState: {terminated: {exitCode: 3}}},
	],
};
const unstartable = {
	phase: 'Pending',
	...ready('False'),
	containerStatuses: [
		{
			name: 'app',
			ready: false,
			restartCount: 0,
			state: {waiting: {reason: 'RunContainerError', message: 'container "app" cannot start: program "/no" does not exist'}},
		},
	],
};
const unready = (seconds: number) => ({
	phase: 'Running',
	...ready('False'),
	containerStatuses: [{name: 'app', ready: false, restartCount: 0, state: {running: {startedAt: ago(seconds)}}}],
});
const unplaced = {phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False', message: '0/1 nodes fit'}]};

const pod = (name: string, status: object, owner?: string): Pod =>
	made('Pod', name, {spec: status === unplaced ? {containers: []} : {nodeName: 'vm', containers: []}, status}, owner) as Pod;

const control = {system: 'control', actors: 1, upMs: 3_600_000, counters: {}, memoryBytes: 1, cpuMs: 1, loopBusy: 0};

const well: Seen = {
	server: 'https://127.0.0.1:6443',
	gitVersion: 'v1.32.0-troupe.0.1.0',
	nowMs,
	counters: {store: {waiting: 0, epoch: 7, version: 42, problem: null}},
	objects: {
		nodes: [node('vm', ready('True'))],
		pods: [],
		deployments: [],
		replicasets: [],
		statefulsets: [],
		daemonsets: [],
		jobs: [],
		persistentvolumeclaims: [],
	},
	actors: {
		roots: ['control', 'vm'].map(system => ({system, value: actorTree(`troupe://${system}/`)})),
		trees: [],
		faults: [],
		control,
	},
};

const withObjects = (objects: Partial<Record<keyof Seen['objects'], readonly ApiObject[]>>): Seen =>
	({...well, objects: {...well.objects, ...objects}}) as Seen;

const withActors = (...actors: readonly ActorTree[]): Seen => ({
	...well,
	actors: {...well.actors, trees: [{system: 'control', value: actorTree('troupe://control/', {children: actors})}]},
});

const deployment = (readyReplicas: number, conditions: readonly object[] = []): ApiObject =>
	made('Deployment', 'web', {spec: {replicas: 2}, status: {readyReplicas, conditions}});
const set = made('ReplicaSet', 'web-1', {spec: {replicas: 2}, status: {readyReplicas: 0}}, 'web');
const job = (conditions: readonly object[]): ApiObject => made('Job', 'once', {spec: {}, status: {conditions}});

/** What is looked at, what is wrong of it, and what is on its way. */
const causes: readonly (readonly [what: string, seen: Seen, wrong: readonly string[], coming?: readonly string[]])[] = [
	['an empty cluster', well, []],
	['a pod that is ready', withObjects({pods: [pod('a', running)]}), []],
	[
		'a pod that nothing made and that crashes',
		withObjects({pods: [pod('a', crashing)]}),
		['pod/a: crashes: container app exited with 3, 4 restarts'],
	],
	['a pod that fits nowhere', withObjects({pods: [pod('a', unplaced)]}), ['pod/a: has no node: 0/1 nodes fit']],
	['a pod that was just made', withObjects({pods: [pod('a', {phase: 'Pending'})]}), [], ['pod/a: is starting']],
	[
		'a pod that is not ready yet',
		withObjects({pods: [pod('a', unready(5))]}),
		[],
		['pod/a: is not ready: container app has not passed its readiness probe'],
	],
	[
		'a pod that never gets ready',
		withObjects({pods: [pod('a', unready(300))]}),
		['pod/a: is not ready: container app has not passed its readiness probe'],
	],
	[
		'pods of a Deployment are told of by it, through its ReplicaSet',
		withObjects({deployments: [deployment(0)], replicasets: [set], pods: [pod('a', crashing, 'web-1'), pod('b', unplaced, 'web-1')]}),
		['deployment/web: 0 of 2 pods ready: 1 crashes, 1 has no node; container app exited with 3, 4 restarts'],
	],
	['a Deployment that grows', withObjects({deployments: [deployment(1)]}), [], ['deployment/web: 1 of 2 pods ready']],
	[
		'a Deployment that gave up',
		withObjects({deployments: [deployment(1, [{type: 'Progressing', status: 'False', message: 'it timed out'}])]}),
		['deployment/web: 1 of 2 pods ready: it timed out'],
	],
	[
		'a pod of a ready Deployment that failed once',
		withObjects({deployments: [deployment(2)], pods: [pod('a', {phase: 'Failed'}, 'web')]}),
		[],
	],
	[
		'a Job that failed',
		withObjects({jobs: [job([{type: 'Failed', status: 'True', message: 'too often'}])]}),
		['job/once: failed: too often'],
	],
	['a Job with a failed pod that goes on', withObjects({jobs: [job([])], pods: [pod('a', {phase: 'Failed'}, 'once')]}), []],
	[
		'a Job whose pod fits nowhere',
		withObjects({jobs: [job([])], pods: [pod('a', unplaced, 'once')]}),
		['job/once: 1 has no node; 0/1 nodes fit'],
	],
	[
		'a claim that lost its volume',
		withObjects({persistentvolumeclaims: [made('PersistentVolumeClaim', 'data', {status: {phase: 'Lost'}})]}),
		['persistentvolumeclaim/data: has lost its volume'],
	],
	[
		'a node that is not heard, whose system is then silent of course',
		{
			...withObjects({nodes: [node('vm', ready('Unknown', {message: 'nothing is heard', lastTransitionTime: ago(40)}))]}),
			actors: {...well.actors, roots: [{system: 'vm', problem: 'no answer'}]},
		},
		['node/vm: is not ready for 40s: nothing is heard'],
	],
	[
		'a node that was not heard yet, a moment after the start',
		{
			...withObjects({nodes: [node('vm', ready('Unknown', {reason: 'NodeStatusUnknown', message: 'not heard'}))]}),
			actors: {...well.actors, control: {...control, upMs: 2_000}, roots: [{system: 'vm', problem: 'no answer'}]},
		},
		[],
		['node/vm: has not been heard yet since the control plane started'],
	],
	[
		'a node that was not heard since the start',
		withObjects({nodes: [node('vm', ready('Unknown', {reason: 'NodeStatusUnknown', message: 'not heard'}))]}),
		['node/vm: is not ready: not heard'],
	],
	[
		'a container that cannot start, said once',
		withObjects({pods: [pod('a', unstartable)]}),
		['pod/a: cannot start: container app: program "/no" does not exist'],
	],
	['a node without an agent', withObjects({nodes: [node('vm', {})]}), ['node/vm: no agent of it was ever heard']],
	[
		'a node whose Docker Engine is gone',
		withObjects({
			nodes: [
				node('vm', {
					conditions: [
						{type: 'Ready', status: 'True'},
						{type: 'DockerNotReady', status: 'True', reason: 'EngineGone', message: 'nothing listens at unix:///docker.sock'},
					],
				}),
			],
		}),
		['node/vm: runs no pods of Docker now: nothing listens at unix:///docker.sock'],
	],
	['a cordoned node is no trouble', withObjects({nodes: [node('vm', ready('True'), {unschedulable: true})]}), []],
	[
		'a system that is silent by itself',
		{...well, actors: {...well.actors, roots: [{system: 'ping@ada', problem: 'no answer'}]}},
		['ping@ada: its actors do not answer: no answer'],
	],
	[
		'systems of a login, which come after all that is the cluster’s, and are a line each login',
		{
			...withActors(actorTree('troupe://shop@ada/x;$(reboot)', {state: 'parked'})),
			actors: {
				...withActors(actorTree('troupe://shop@ada/x;$(reboot)', {state: 'parked'})).actors,
				roots: ['a@ada', 'b@ada', 'c@bob', 'vm'].map(system => ({system, problem: 'no answer'})),
			},
		},
		[
			'vm: its actors do not answer: no answer',
			'shop@ada/x;$(reboot): is parked, its actor crashed too often',
			'ada: 2 of its systems do not answer, such as a@ada',
			'c@bob: its actors do not answer: no answer',
		],
	],
	['a store that takes no writes', {...well, counters: {store: {problem: 'no space left'}}}, ['store: takes no writes: no space left']],
	[
		'a parked actor',
		withActors(actorTree('troupe://control/pods', {state: 'parked', failure: 'oh'})),
		['control/pods: is parked, its actor crashed too often: oh'],
	],
	[
		'a paused actor',
		withActors(actorTree('troupe://control/pods', {state: 'paused', pausedForMs: 9_000})),
		['control/pods: is paused for another 9s'],
	],
	[
		'an actor that crashed a moment ago',
		withActors(actorTree('troupe://control/pods', {failure: 'oh', failedAgoMs: 5_000, restarts: 1})),
		['control/pods: crashed 5s ago, 1 restart: oh'],
	],
	[
		'an actor that crashed some minutes ago',
		withActors(actorTree('troupe://control/pods', {failure: 'oh', failedAgoMs: 300_000, restarts: 1})),
		[],
	],
	[
		'a fault, and the actor that it is on, once',
		{
			...withActors(actorTree('troupe://control/pods', {faults: ['loses every message, 3 s left, by ada']})),
			actors: {
				...withActors(actorTree('troupe://control/pods', {faults: ['loses every message, 3 s left, by ada']})).actors,
				faults: [
					{
						system: 'control',
						value: {
							areAllowed: true,
							faults: [
								{
									address: 'troupe://control/pods',
									fault: {type: 'drop', share: 1},
									leftMs: 3_000,
									by: 'ada',
									text: 'loses every message, 3 s left, by ada',
								},
							],
						},
					},
				],
			},
		},
		['control/pods: a fault is on: loses every message, 3 s left, by ada'],
	],
	[
		'a node that a fault cuts off, before it is missed',
		{
			...well,
			actors: {
				...well.actors,
				roots: [
					{
						system: 'vm',
						problem: 'a fault keeps it away',
						faults: [{address: 'troupe://vm/', fault: {type: 'partition'}, leftMs: 1, text: 'cut off'}],
					},
				],
			},
		},
		['vm: a fault is on: cut off'],
	],
];

test('a fault stands before what follows from it, with what to type', t => {
	const faults = [{address: 'troupe://vm/', fault: {type: 'partition'} as const, leftMs: 1, text: 'cut off'}] as const;
	const {actors} = well;
	const cut = judge({
		...withObjects({nodes: [node('vm', ready('Unknown', {message: 'nothing is heard'}))]}),
		actors: {...actors, roots: [{system: 'vm', problem: 'a fault keeps it away', faults}]},
	});
	t.deepEqual(
		cut.wrong.map(({about, next}) => [about, next]),
		[
			['vm', 'troupe why node/vm'],
			['node/vm', 'troupe why node/vm'],
		],
	);
	const slow = [{address: 'troupe://control/scheduler', fault: {type: 'slow', ms: 1} as const, leftMs: 1, text: 'slow'}] as const;
	const slowed = judge({...well, actors: {...actors, faults: [{system: 'control', value: {areAllowed: true, faults: slow}}]}});
	t.is(slowed.wrong[0]?.next, 'troupe fault end control/scheduler');
});

for (const [what, seen, wrong, coming = []] of causes)
	test(`status: ${what}`, t => {
		const status = judge(seen);
		const told = (all: readonly {readonly about: string; readonly says: string}[]) => all.map(({about, says}) => `${about}: ${says}`);
		t.deepEqual([told(status.wrong), told(status.coming)], [wrong, coming]);
		t.is(status.state, wrong.length === 0 ? 'well' : 'wrong');
	});

const view = {columns: undefined, widthOf: (text: string) => text.length, colours: createColors(false)};

test('status is a screen: what is well in a line each', t => {
	t.is(
		drawStatus(judge({...well, objects: {...well.objects, pods: [pod('a', running)]}}), view),
		[
			'cluster  all is well',
			'server   https://127.0.0.1:6443, version 0.1.0, leads for 60m, term 7',
			'store    takes writes, at version 42',
			'nodes    1 of 1 ready',
			'pods     1 of 1 ready; 1 running',
			'actors   2 of 2 systems answer',
			'',
		].join('\n'),
	);
});

test('what is wrong comes with where it is, and the first with what to type; of many the first are shown, broken between words', t => {
	const pods = Array.from({length: 30}, (_, at) => pod(`p-${at}`, crashing));
	const lines = drawStatus(
		judge(withObjects({pods: [{...pod('x', crashing), metadata: {...pod('x', crashing).metadata, namespace: 'shop'}}, ...pods]})),
		{
			...view,
			columns: 60,
		},
	).split('\n');
	t.is(lines[0], 'cluster  31 things are wrong');
	t.deepEqual(lines.slice(6, 10), [
		'',
		'What is wrong:',
		'  pod/x -n shop  crashes: container app exited with 3, 4',
		'                 restarts',
	]);
	t.deepEqual(lines.slice(-4), ['  … 11 more', '', 'next: troupe why pod/x -n shop', '']);
	t.true(lines.every(line => line.length < 60));
});

test('of one thing no more than three lines are shown', t => {
	const says = Array.from({length: 40}, () => '0/1 nodes fit').join('; ');
	const told = pod('a', {phase: 'Pending', conditions: [{type: 'PodScheduled', status: 'False', message: says}]});
	const fits = {...told, spec: {containers: []}} as unknown as Pod;
	const lines = drawStatus(judge(withObjects({pods: [fits]})), {...view, columns: 60}).split('\n');
	t.deepEqual(lines.slice(11, 13), ['', 'next: troupe why pod/a']);
	t.regex(lines[10] ?? '', /^ {9}fit; 0.* …$/);
	t.true(lines.every(line => line.length < 60));
});

test('pods that are over are counted apart', t => {
	const pods = [pod('a', running), pod('b', {phase: 'Succeeded'}), pod('c', {phase: 'Failed'})];
	const line = drawStatus(judge(withObjects({pods})), view)
		.split('\n')
		.find(each => each.startsWith('pods'));
	t.is(line, 'pods     1 of 1 ready; 1 running; finished: 1 succeeded, 1 failed');
});

test('what others wrote commands no terminal', t => {
	const status = judge(withActors(actorTree('troupe://control/pods', {state: 'parked', failure: 'a\u001b[2Jb\nc'})));
	t.true(drawStatus(status, view).includes('a^[[2Jb c'));
});
