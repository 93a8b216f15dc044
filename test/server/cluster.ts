// A control plane small enough for a test: the real index and ring, and records that write at once.

import {randomUUID} from 'node:crypto';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {apiVersionOf, kindByPlural, kindOf, qualifiedPlural} from '../../api/catalogue.js';
import {keepReference} from '../../api/equal.js';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {pod as podKind} from '../../api/kinds/pod.js';
import {address, clusterScope, objectKey, parseAddress, storeKey} from '../../api/keys.js';
import {timestampOf, type ApiObject, type Draft, type JsonObject} from '../../api/object.js';
import {patched} from '../../actors/control/objects/object-change.js';
import type {CreateObject, DeleteObject, PatchObject, ReplaceObject} from '../../actors/control/objects/object-message.js';
import {termsOf} from '../../actors/control/kinds.js';
import type {InspectCommand} from '../../actors/inspector.js';
import type {LogChunk, LogRequest} from '../../actors/node/runtime/runtime-port.js';
import {parsePlace, type ActorTree, type SystemRequest} from '../../api/inspect.js';
import type {AskOptions, ControlPlane, JournalEntry, ObjectEvent} from '../../server/control-plane.js';
import type {AuditEntry} from '../../server/inspect/audit.js';
import {createInspection} from '../../server/inspect/inspection.js';
import type {HistoryRecord} from '../../server/workflows/run-history.js';
import type {Message} from '../../system/kernel/behavior.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import type {DepartedObject} from '../../system/commit/departed.js';
import type {StoredRecord} from '../../system/store/store.js';
import {systemClock} from '../../system/time/clock.js';
import {WatchRing, type WatchListener, type WatchStart} from '../../system/index/watch-ring.js';

export type Asked = {readonly to: string; readonly message: Message & JsonObject; readonly options: AskOptions};

export type TestCluster = ReturnType<typeof testCluster>;

type ObjectMessage = CreateObject | ReplaceObject | PatchObject | DeleteObject;
type LogMessage = {readonly type: 'readLog'; readonly request: LogRequest};

/** The real ring, that knows how many follow it. */
class CountingRing extends WatchRing {
	watchers = 0;

	override watch(version: number, listener: WatchListener): WatchStart {
		const start = super.watch(version, listener);
		if (!start.ok) return start;
		this.watchers++;
		return {
			ok: true,
			cancel: () => {
				this.watchers--;
				start.cancel();
			},
		};
	}
}

/** A cluster with the namespaces `default` and `other`; the ring holds `ringChanges`. */
export function testCluster(nowMs = 1_700_000_000_000, ringChanges = 10_000) {
	const index = new ObjectIndex(termsOf);
	const watches = new CountingRing(0, ringChanges);
	const asked: Asked[] = [];
	const audit: AuditEntry[] = [];
	const events = new Map<string, ObjectEvent[]>();
	const journals = new Map<string, JournalEntry[]>();
	const departed = new Map<string, DepartedObject>();
	/** Of runs, by key. */
	const histories = new Map<string, HistoryRecord[]>();
	const trees: {system: string; tree: ActorTree | undefined; problem: string | undefined}[] = [];
	/** What a test wants answered instead, by address. */
	const answers = new Map<string, (message: Message) => Outcome<unknown> | Promise<Outcome<unknown>>>();
	let readLog: (node: string, request: LogRequest) => Outcome<LogChunk> | Promise<Outcome<LogChunk>> = node =>
		failed('ERR_NO_SUCH_ACTOR', {address: `troupe://${node}/runtime`});

	let inspect = (system: string, request: SystemRequest): Outcome<unknown> | Promise<Outcome<unknown>> => {
		const known = trees.find(each => each.system === system);
		const {path = ''} = 'place' in request ? (parsePlace(request.place) ?? {}) : {};
		const wanted = address(system, path);
		if (known?.problem !== undefined) return failed('ERR_NOT_REACHABLE', {message: known.problem});
		const found = known?.tree === undefined || path === '' ? known?.tree : actorIn(known.tree, wanted);
		return found === undefined ? failed('ERR_NO_SUCH_ACTOR', {address: wanted}) : succeeded(found);
	};

	const keyOf = (object: ApiObject): string =>
		objectKey(kindOf(object.apiVersion, object.kind)?.plural ?? '?', object.metadata.namespace, object.metadata.name);

	/** Commits an object as it is, with the next version. */
	function put(object: ApiObject): ApiObject {
		const version = index.version + 1;
		const committed = {...object, metadata: {...object.metadata, resourceVersion: String(version)}};
		const json = JSON.stringify(committed);
		watches.push(index.apply(keyOf(object), version, committed, () => json));
		return committed;
	}

	function drop(key: string): void {
		watches.push(index.apply(key, index.version + 1, undefined, () => ''));
	}

	function made(draft: Draft): ApiObject {
		const {generateName = '', ...metadata} = draft.metadata;
		const name = metadata.name ?? `${generateName}x7k2p`;
		return {
			...draft,
			metadata: {...metadata, name, uid: randomUUID(), resourceVersion: '0', generation: 1, creationTimestamp: timestampOf(nowMs)},
			status: kindOf(draft.apiVersion, draft.kind)?.initialStatus?.(draft),
		};
	}

	function create({object: input, dryRun}: CreateObject): Outcome<unknown> {
		const admitted = admitCreate(input);
		if (!admitted.ok) return admitted;
		const draft = admitted.value;
		const object = made(draft);
		const kind = kindOf(draft.apiVersion, draft.kind);
		if (kind === undefined) return failed('ERR_INTERNAL');
		const {namespace, name} = object.metadata;
		if (namespace !== undefined && index.get(objectKey('namespaces', undefined, namespace)) === undefined)
			return failed('ERR_NOT_FOUND', {resource: 'namespaces', name: namespace});
		if (index.get(keyOf(object)) !== undefined) return failed('ERR_ALREADY_EXISTS', {resource: qualifiedPlural(kind), name});
		return succeeded(dryRun === true ? object : put(object));
	}

	function write(old: ApiObject, message: ReplaceObject | PatchObject): Outcome<unknown> {
		const kind = kindOf(old.apiVersion, old.kind);
		const wanted =
			message.type === 'patch'
				? patched(old, message)
				: succeeded({
						...message.object,
						metadata: {...old.metadata, ...message.object.metadata},
						status: message.object.status ?? old.status,
					});
		if (!wanted.ok) return wanted;
		const next = keepReference(old, wanted.value as ApiObject);
		// A patch may have left no metadata: the admission says so.
		const {resourceVersion} = (next as Partial<ApiObject>).metadata ?? {};
		if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
			return failed('ERR_CONFLICT', {resource: kind === undefined ? '' : qualifiedPlural(kind), name: old.metadata.name});
		if (next === old) return succeeded(old);
		const admitted = admitUpdate(next, old);
		if (!admitted.ok) return admitted;
		const changed = {...next, ...admitted.value, metadata: {...old.metadata, ...admitted.value.metadata}};
		return succeeded(message.dryRun === true ? changed : put(changed));
	}

	function remove(key: string, old: ApiObject, {dryRun, graceSeconds}: DeleteObject): Outcome<unknown> {
		if (dryRun === true) return succeeded(old);
		const lingers = old.metadata.finalizers !== undefined && graceSeconds !== 0;
		if (lingers) return succeeded(put({...old, metadata: {...old.metadata, deletionTimestamp: timestampOf(nowMs)}}));
		drop(key);
		return succeeded(old);
	}

	function answer(to: string, message: Message): Outcome<unknown> | Promise<Outcome<unknown>> {
		const custom = answers.get(to);
		if (custom !== undefined) return custom(message);
		const {system = '', path = ''} = parseAddress(to) ?? {};
		if (path === 'inspector') return inspect(system, (message as InspectCommand).request);
		if (path === 'runtime') return readLog(system, (message as LogMessage).request);
		const object = message as ObjectMessage;
		if (object.type === 'create') return create(object);
		const slash = path.indexOf('/');
		const plural = path.slice(0, slash);
		const rest = path.slice(slash + 1);
		const dot = kindByPlural(plural)?.namespaced === true ? rest.indexOf('.') : -1;
		const key = objectKey(plural, dot < 0 ? clusterScope : rest.slice(0, dot), rest.slice(dot + 1));
		const old = index.get(key);
		if (old === undefined) return failed('ERR_NO_SUCH_ACTOR', {address: to});
		return object.type === 'delete' ? remove(key, old, object) : write(old, object);
	}

	/** What a store would hold of the objects. */
	async function* stored(): AsyncIterable<readonly StoredRecord[]> {
		const records = [...index.all()].map(({key, object}) => ({key: storeKey(key), body: JSON.stringify(object)}));
		yield await Promise.resolve(records.sort((a, b) => (a.key < b.key ? -1 : 1)));
	}

	const control: ControlPlane = {
		index,
		watches,
		epoch: () => 1,
		nowMs: () => nowMs,
		async ask<Value>(to: string, message: Message, options: AskOptions): Promise<Outcome<Value>> {
			asked.push({to, message: message, options});
			return (await answer(to, message)) as Outcome<Value>;
		},
		tell: (to, message) => void answer(to, message),
		eventsOf: key => events.get(key) ?? [],
		eventKeys: () => events.keys(),
		journalOf: key => journals.get(key) ?? [],
		departed: {
			of: key => departed.get(key),
			ownedBy: uid =>
				[...departed.values()].map(({object}) => object).filter(({metadata}) => metadata.ownerReferences?.some(owner => owner.uid === uid)),
		},
		journalSinceMs: nowMs,
		systems: () => [...new Set(['control', ...trees.map(({system}) => system)])],
		history: {
			read(key, from, limit) {
				const records = (histories.get(key) ?? []).filter(({number}) => number >= from);
				const [next] = records.slice(limit);
				return Promise.resolve({records: records.slice(0, limit), ...(next === undefined ? {} : {next: next.number})});
			},
		},
		snapshot: () => Promise.resolve({meta: {version: index.version, epoch: 1, lineage: 'a'}, records: stored()}),
		counters: () => ({commits: index.version}),
	};

	for (const name of ['default', 'other']) put(made({apiVersion: 'v1', kind: 'Namespace', metadata: {name}}));
	return {
		control,
		inspection: createInspection({control, clock: systemClock, auditLog: entry => void audit.push(entry)}),
		/** What the inspector wrote to its audit log. */
		audit,
		onInspect: (look: typeof inspect): void => void (inspect = look),
		asked,
		watchers: () => watches.watchers,
		events,
		journals,
		departed,
		histories,
		trees,
		answers,
		put,
		drop,
		/** Puts a pod in. */
		pod: (name: string, more: Partial<Draft> = {}, namespace = 'default'): ApiObject =>
			put(made(podKind.defaults({...aPod(name), ...more, metadata: {name, namespace, ...more.metadata}}))),
		onReadLog: (read: typeof readLog): void => void (readLog = read),
	};
}

const actorIn = (tree: ActorTree, wanted: string): ActorTree | undefined =>
	tree.address === wanted ? tree : tree.children.map(child => actorIn(child, wanted)).find(found => found !== undefined);

/** A manifest that passes every check. */
export const aPod = (name: string): Draft => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name},
	spec: {containers: [{name: 'main', image: 'none', command: ['sleep', '1000']}]},
});

/** A ReplicaSet's manifest. */
export const aReplicaSet = (name: string, replicas: number): Draft => ({
	apiVersion: 'apps/v1',
	kind: 'ReplicaSet',
	metadata: {name},
	spec: {
		replicas,
		selector: {matchLabels: {app: name}},
		template: {metadata: {labels: {app: name}}, spec: {containers: [{name: 'main', image: 'none', command: ['sleep', '1000']}]}},
	},
});

/** The path of a kind's collection. */
export function collectionPath(plural: string, namespace?: string): string {
	const kind = kindByPlural(plural);
	const root = kind === undefined || kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`;
	return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
