import {PassThrough, Readable} from 'node:stream';
import test from 'ava';
import {AppError} from '../../api/errors.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Client, Request} from '../../cli/client.js';
import {errorOfAnswer} from '../../cli/cluster/status-error.js';
import {choosePods} from '../../cli/drain/choose.js';
import {evictAll} from '../../cli/drain/evict.js';
import {noDeadline} from '../../cli/objects/wait.js';

const nothingGivenUp = {force: false, deleteEmptyDirData: false, ignoreDaemonSets: false};

function aPod(
	name: string,
	{owner, phase = 'Running', scratch = false, ends = false}: {owner?: string; phase?: string; scratch?: boolean; ends?: boolean} = {},
): Pod {
	const pod = {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {
			name,
			namespace: 'default',
			uid: name,
			...(owner === undefined ? {} : {ownerReferences: [{apiVersion: 'apps/v1', kind: owner, name: 'x', uid: 'x', controller: true}]}),
			...(ends ? {deletionTimestamp: '2026-01-01T00:00:00Z'} : {}),
		},
		spec: {containers: [], ...(scratch ? {volumes: [{name: 'v', emptyDir: {}}]} : {})},
		status: {phase},
	};
	return pod as unknown as Pod;
}

const names = (pods: readonly Pod[]): readonly string[] => pods.map(({metadata}) => metadata.name);

test('pods that come back elsewhere are evicted without asking, and so are those that ended', t => {
	const {evict, leave, refusals} = choosePods(
		[aPod('a', {owner: 'ReplicaSet'}), aPod('done', {phase: 'Succeeded', scratch: true}), aPod('bad', {phase: 'Failed'})],
		nothingGivenUp,
	);
	t.deepEqual([names(evict), names(leave), refusals], [['a', 'done', 'bad'], [], []]);
});

test('what would be lost for good is refused by name, each sort in a line, unless its flag is given', t => {
	const pods = [
		aPod('bare'),
		aPod('scratch', {owner: 'ReplicaSet', scratch: true}),
		aPod('both', {scratch: true}),
		aPod('each', {owner: 'DaemonSet'}),
	];
	t.deepEqual(choosePods(pods, nothingGivenUp).refusals, [
		'no controller makes these pods anew (--force evicts them for good): default/bare, default/both',
		'these pods have data in an emptyDir volume (--delete-emptydir-data gives it up): default/scratch, default/both',
		'these pods are of a DaemonSet (--ignore-daemonsets leaves them alone): default/each',
	]);
	const all = choosePods(pods, {force: true, deleteEmptyDirData: true, ignoreDaemonSets: true});
	t.deepEqual([names(all.evict), names(all.leave), all.refusals], [['bare', 'scratch', 'both'], ['each'], []]);
});

test('pods on their way out are waited for, and nothing is asked about them', t => {
	const {evict, refusals} = choosePods([aPod('bare', {ends: true, scratch: true})], nothingGivenUp);
	t.deepEqual([names(evict), refusals], [['bare'], []]);
});

test('after one refusal nothing more is asked of the node, and nothing of it is heard any more', async t => {
	const names = Array.from({length: 100}, (_, at) => `pod-${at}`);
	const list = {metadata: {resourceVersion: '1'}, items: names.map(name => aPod(name, {owner: 'ReplicaSet'}))};
	const asked: string[] = [];
	const signals = new Set<AbortSignal | undefined>();
	const openStream = new Promise<never>(() => undefined);
	const client: Pick<Client, 'json' | 'stream'> = {
		json({path, signal}: Request) {
			signals.add(signal);
			if (!path.endsWith('/eviction')) return Promise.resolve(list);
			asked.push(path);
			return path.includes('/pod-0/') ? Promise.reject(new AppError('ERR_FORBIDDEN', {message: 'not you'})) : Promise.resolve({});
		},
		stream: ({signal}) => {
			signals.add(signal);
			return openStream;
		},
	};
	const options = {
		...nothingGivenUp,
		graceSeconds: undefined,
		podSelector: undefined,
		disableEviction: false,
		dryRun: false,
	};
	const watcher = {onGone: () => t.fail('none is gone'), onHeld: () => undefined, onProgress: () => undefined};
	const draining = evictAll(client as Client, {node: 'a', known: []}, options, watcher, noDeadline);
	await t.throwsAsync(draining, {message: /^default\/pod-0 cannot be evicted: /});
	const before = asked.length;
	await new Promise(resolve => setImmediate(resolve));
	t.is(asked.length, before);
	t.true(before < names.length);
	t.true([...signals].every(signal => signal?.aborted === true));
});

test('just those pods are evicted that were looked at, each once, and none that goes already', async t => {
	const there = ['one', 'two', 'goes'].map(name => aPod(name, {owner: 'ReplicaSet', ends: name === 'goes'}));
	const evictions: unknown[] = [];
	const changes = ['goes', 'one', 'two'];
	const client: Pick<Client, 'json' | 'stream'> = {
		json({path, body}: Request) {
			if (!path.endsWith('/eviction')) return Promise.resolve({metadata: {resourceVersion: '1'}, items: there});
			evictions.push((body as {readonly deleteOptions?: unknown}).deleteOptions);
			return Promise.resolve({});
		},
		stream: () => {
			const lines = changes.map(
				name => `${JSON.stringify({type: 'DELETED', object: there.find(({metadata}) => metadata.name === name)})}\n`,
			);
			return Promise.resolve(Readable.from(lines.map(line => Buffer.from(line))) as AsyncIterable<Uint8Array>);
		},
	};
	const options = {...nothingGivenUp, graceSeconds: 7, podSelector: undefined, disableEviction: false, dryRun: false};
	const gone: string[] = [];
	const watcher = {onGone: ({metadata}: Pod) => gone.push(metadata.name), onHeld: () => undefined, onProgress: () => undefined};
	await evictAll(client as Client, {node: 'a', known: []}, options, watcher, noDeadline);
	t.deepEqual(evictions, [
		{preconditions: {uid: 'one'}, gracePeriodSeconds: 7},
		{preconditions: {uid: 'two'}, gracePeriodSeconds: 7},
	]);
	t.deepEqual(gone, changes);
});

const budgetNamed = (name: string, disruptionsAllowed: number) => ({
	apiVersion: 'policy/v1',
	kind: 'PodDisruptionBudget',
	metadata: {name, namespace: 'default', uid: name},
	status: {disruptionsAllowed},
});

const line = (type: string, object: unknown): Buffer => Buffer.from(`${JSON.stringify({type, object})}\n`);
const options = {...nothingGivenUp, graceSeconds: undefined, podSelector: undefined, disableEviction: false, dryRun: false};

test('pods that a budget holds back are asked for again when it lets the next go, and nothing else waits for them', async t => {
	const there = new Map(['a', 'b', 'c', 'free'].map(name => [name, aPod(name, {owner: 'ReplicaSet'})]));
	const podLines = new PassThrough();
	const budgetLines: PassThrough[] = [];
	let allowed = 1;
	const cause = 'The disruption budget web needs 2 healthy pods and has 2 currently';
	const asked: string[] = [];
	const client: Pick<Client, 'json' | 'stream'> = {
		json({path}: Request) {
			if (path.endsWith('/poddisruptionbudgets'))
				return Promise.resolve({metadata: {resourceVersion: '1'}, items: [budgetNamed('web', allowed)]});
			if (!path.endsWith('/eviction')) return Promise.resolve({metadata: {resourceVersion: '1'}, items: [...there.values()]});
			const name = path.split('/').at(-2) ?? '';
			asked.push(name);
			if (name !== 'free' && allowed-- <= 0) {
				allowed = 0;
				const details = {name: 'web', causes: [{reason: 'DisruptionBudget', message: cause}]};
				return Promise.reject(errorOfAnswer(429, {kind: 'Status', message: 'Cannot evict pod', details}));
			}
			podLines.write(line('DELETED', there.get(name)));
			return Promise.resolve({});
		},
		stream({path}) {
			if (!path.endsWith('/poddisruptionbudgets')) return Promise.resolve(podLines);
			const lines = new PassThrough();
			budgetLines.push(lines);
			// Its successor is ready: the next may go.
			allowed = 1;
			lines.write(line('MODIFIED', budgetNamed('web', 1)));
			return Promise.resolve(lines);
		},
	};
	const held: string[] = [];
	const gone: string[] = [];
	const watcher = {
		onGone: ({metadata}: Pod) => gone.push(metadata.name),
		onHeld: ({metadata}: Pod, why: string) => held.push(`${metadata.name}: ${why}`),
		onProgress: () => undefined,
	};
	await evictAll(client as Client, {node: 'a', known: []}, options, watcher, noDeadline);
	t.deepEqual(held, [`b: ${cause}`, `c: ${cause}`]);
	t.deepEqual([...gone].sort(), ['a', 'b', 'c', 'free']);
	t.deepEqual(asked, ['a', 'b', 'c', 'free', 'b', 'c']);
	t.is(budgetLines.length, 2);
});

test('a drain that is out of time says which budget it waited for', async t => {
	const pod = aPod('a', {owner: 'ReplicaSet'});
	const cause = 'The disruption budget web needs 1 healthy pods and has 1 currently';
	const over = new AbortController();
	const client: Pick<Client, 'json' | 'stream'> = {
		json({path}: Request) {
			const budget = path.endsWith('/poddisruptionbudgets');
			if (budget || !path.endsWith('/eviction'))
				return Promise.resolve({metadata: {resourceVersion: '1'}, items: [budget ? budgetNamed('web', 0) : pod]});
			const details = {name: 'web', causes: [{reason: 'DisruptionBudget', message: cause}]};
			return Promise.reject(errorOfAnswer(429, {kind: 'Status', message: 'Cannot evict pod', details}));
		},
		stream({path, signal}) {
			// It waits for the budget now.
			if (path.endsWith('/poddisruptionbudgets')) over.abort();
			return new Promise((_resolve, reject) => {
				const refuse = () => reject(new Error('aborted'));
				if (signal?.aborted === true) refuse();
				else signal?.addEventListener('abort', refuse);
			});
		},
	};
	const watcher = {onGone: () => t.fail(), onHeld: () => undefined, onProgress: () => undefined};
	const draining = evictAll(client as Client, {node: 'a', known: []}, options, watcher, {signal: over.signal, text: '1s'});
	await t.throwsAsync(draining, {message: `timed out after 1s waiting for 1 of 1 pods to go: default/a (${cause})`});
});
