// What must hold at every moment, looked at whenever something happens that could break it. docs/simulation.md says it in words.
//
// The truth here is what was committed: it follows control's index change by change, and is compared with the whole index whenever a
// control plane has loaded one.

import {jobTrackingFinalizer} from '../../api/job-labels.js';
import type {Failure} from '../../api/errors.js';
import {claimProtection, folderFinalizer, volumeProtection} from '../../api/local-storage.js';
import {objectAddress, objectKey, storeKey, type ObjectKey} from '../../api/keys.js';
import {podRequests} from '../../api/pod-resources.js';
import {cpuMillis} from '../../api/quantity.js';
import {nodeKey} from '../../actors/addresses.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject} from '../../api/object.js';
import type {ControlSystem} from '../../actors/control/start.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';
import type {Link, Links} from '../../system/links/link.js';
import type {Change, Entry} from '../../system/index/object-index.js';
import type {Batch} from '../../system/store/store.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {isLost} from '../../actors/control/pods/eviction.js';
import {claimedPorts} from '../../actors/control/pods/pod-requirements.js';
import type {Server, SimulatedCluster} from './cluster.js';
import {Autoscaled} from './autoscaled.js';
import {Bounds} from './bounds.js';
import {ClaimJudge} from './claim-judge.js';
import {CronJudge} from './cron-judge.js';
import {JobJudge} from './job-judge.js';
import {OpenWrites} from './open-writes.js';
import {Rollouts} from './rollouts.js';
import {SetInvariants, soleOf} from './set-invariants.js';
import {both, spied} from './spies.js';
import {Taints} from './taints.js';

/** Restarts of one actor: three at once, then resting; with what the world did on top. */
const crashesAMinute = 8;
const minuteMs = 60_000;
const over: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/** What others keep an object by. When the cluster lets go of what it keeps itself is told by I14 and I16. */
const holdersOf = (object: ApiObject | undefined): readonly string[] =>
	(object?.metadata.finalizers ?? []).filter(finalizer => !ofCluster.has(finalizer));

const ofCluster: ReadonlySet<string> = new Set([jobTrackingFinalizer, claimProtection, volumeProtection, folderFinalizer]);

/** A term as the world knows it. */
export type TermOfWorld = {readonly epoch: () => number | undefined; readonly holdsLease: () => boolean};

export class Invariants {
	/** Broken promises, as they are seen. */
	readonly violations: string[] = [];
	readonly #cluster: SimulatedCluster;
	readonly #truth = new Map<ObjectKey, ApiObject>();
	readonly #podsByUid = new Map<string, Pod>();
	/** Where each pod is bound or was, and how often to each node. */
	readonly #boundTo = new Map<string, Map<string, number>>();
	/** What each pod was made for: its controller, or itself. */
	readonly #soleOf = new Map<string, string>();
	/** Which server wrote in each epoch. */
	readonly #writerOf = new Map<number, string>();
	readonly #mostReplicas = new Map<string, number>();
	readonly #crashes = new Map<string, number[]>();
	/** Versions of all changes by plural and namespace. */
	readonly changes = new Map<string, number[]>();
	readonly #open = new OpenWrites();
	#lastVersion = 0;
	#lastInScope = new Map<string, number>();

	readonly #sets: SetInvariants;
	readonly taints: Taints;
	readonly rollouts: Rollouts;
	readonly bounds: Bounds;
	readonly autoscaled: Autoscaled;
	readonly #jobs: JobJudge;
	readonly #crons: CronJudge;
	readonly #claims: ClaimJudge;
	/** Somebody who waits for what is made. */
	onCreated: (object: ApiObject) => void = () => undefined;
	/** Pods that were let go by what held them, by uid. */
	readonly released = new Set<string>();

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
		this.taints = new Taints(cluster);
		this.rollouts = new Rollouts(cluster);
		this.bounds = new Bounds(cluster);
		this.autoscaled = new Autoscaled(cluster);
		const truth = {
			get: (key: string) => this.#truth.get(key),
			pods: () => this.#podsByUid.values(),
			broken: (what: string) => this.broken(what),
		};
		this.#sets = new SetInvariants(truth);
		this.#jobs = new JobJudge(truth);
		this.#crons = new CronJudge(truth);
		this.#claims = new ClaimJudge(what => this.broken(what));
	}

	broken(what: string): void {
		if (this.violations.length < 20) this.violations.push(what);
		this.#cluster.note(`BROKEN: ${what}`);
	}

	get lastVersion(): number {
		return this.#lastVersion;
	}

	/** All pods as they are committed. */
	pods(): Iterable<Pod> {
		return this.#podsByUid.values();
	}

	/** The pod as it is committed. */
	pod(uid: string): Pod | undefined {
		return this.#podsByUid.get(uid);
	}

	/** Nodes to which a pod is or was bound. */
	nodesOf(uid: string): ReadonlyMap<string, number> {
		return this.#boundTo.get(uid) ?? new Map();
	}

	/** Of what an exclusive pod is the only one: its set's uid, or its own. */
	soleOf(uid: string): string {
		return this.#soleOf.get(uid) ?? uid;
	}

	/** Whether the pod has a name of a StatefulSet, of which there is one alone. */
	hasName(uid: string): boolean {
		return this.soleOf(uid).includes('/');
	}

	truth(key: ObjectKey): ApiObject | undefined {
		return this.#truth.get(key);
	}

	/** The same design, of which the actors are looked at that judge, count and bind. */
	watched(design: SystemDesign): SystemDesign {
		return spied(design, {
			Detector: this.#cluster.hearing.spy,
			ReplicaSet: both(this.#open.ofSets, this.rollouts.spy),
			Deployment: this.rollouts.spy,
			StatefulSet: this.#sets.ofStatefulSets,
			DaemonSet: this.#sets.ofDaemonSets,
			Job: this.#jobs.spy,
			CronJob: this.#crons.spy,
			PodDisruptionBudget: this.bounds.spy,
			Scheduler: this.#open.ofScheduler(({uid, node}) => this.taints.onBind(this.pod(uid), node)),
		});
	}

	// ---- what control commits ----------------------------------------------------------------------------------------

	/** What a watcher may rely on: versions rise, and each change names the one before it. */
	onChange(server: Server, change: Change): void {
		const {key, version, previous, after} = change;
		if (this.#cluster.leader() !== server) this.broken(`leader: ${server.name} shows a change of ${key} and leads no more`);
		if (version <= this.#lastVersion) this.broken(`I3: version ${version} of ${key} after ${this.#lastVersion}`);
		this.#lastVersion = version;
		const scope = key.slice(0, key.lastIndexOf('/'));
		const last = this.#lastInScope.get(scope) ?? 0;
		if (previous !== last) this.broken(`I3: ${key}@${version} names ${previous} as the change before it, which was ${last}`);
		this.#lastInScope.set(scope, version);
		const changes = this.changes.get(scope);
		if (changes === undefined) this.changes.set(scope, [version]);
		else changes.push(version);
		const holding = holdersOf(change.before?.object);
		const uid = change.before?.object.metadata.uid ?? '';
		if (after === undefined && holding.length > 0 && !this.released.has(uid))
			this.broken(`I2: ${key} is removed, and ${holding.join()} held it`);
		this.#learn(key, after?.object);
		this.#countPods(change);
		this.bounds.onChange(change.before?.object, after?.object);
		if (change.before === undefined && after !== undefined) this.onCreated(after.object);
	}

	#learn(key: ObjectKey, object: ApiObject | undefined): void {
		const before = this.#truth.get(key);
		if (object === undefined) this.#truth.delete(key);
		else this.#truth.set(key, object);
		this.rollouts.onChange(before, object);
		this.#jobs.onChange(before, object);
		this.#crons.onChange(before, object);
		this.#claims.onChange(before, object);
		if (key.startsWith('nodes/')) this.taints.onNode(key.slice(key.lastIndexOf('/') + 1), object as NodeObject | undefined);
		if (!key.startsWith('pods/')) return;
		if (before !== undefined && before.metadata.uid !== object?.metadata.uid) this.#podsByUid.delete(before.metadata.uid);
		if (object !== undefined) this.#learnPod(object as Pod);
	}

	/** I1: a pod leaves its node only when the node is committed as lost. */
	#learnPod(pod: Pod): void {
		const {uid, name} = pod.metadata;
		const known = this.#podsByUid.get(uid);
		const before = known?.spec?.nodeName;
		this.#podsByUid.set(uid, pod);
		this.taints.onPod(known, pod);
		const left = holdersOf(known).filter(each => !holdersOf(pod).includes(each));
		if (left.length > 0 && !this.released.has(uid)) this.broken(`I2: pod ${name} is let go, and ${left.join()} held it`);
		if (known?.status !== pod.status) for (const what of this.#cluster.programs.ends.of(pod)) this.broken(what);
		this.#soleOf.set(uid, soleOf(pod));
		this.#sets.onPod(pod);
		const node = pod.spec?.nodeName;
		if (before !== undefined && node !== before && !this.isGone(before))
			this.broken(`I1: pod ${name} was bound to ${before}, which is not lost, and is now to ${node ?? 'none'}`);
		if (node !== undefined && before !== node) this.#checkRoom(node, pod);
		if (node === undefined || node === before) return;
		const bound = this.#boundTo.get(uid) ?? new Map<string, number>();
		this.#boundTo.set(uid, bound.set(node, (bound.get(node) ?? 0) + 1));
	}

	/** What pods ask for is there, and a port is one pod's. */
	#checkRoom(node: string, pod: Pod): void {
		const record = this.#truth.get(nodeKey(node)) as NodeObject | undefined;
		if (record === undefined || this.#isForgotten(node)) return;
		const there = [...this.#podsByUid.values()].filter(({spec, status}) => spec?.nodeName === node && !over.has(status?.phase ?? ''));
		const asked = there.reduce((sum, {spec}) => sum + (spec === undefined ? 0 : podRequests(spec).cpuMillis), 0);
		const most = cpuMillis(record.status?.allocatable?.['cpu'] ?? '') ?? 0;
		if (asked > most) this.broken(`I9: ${asked} thousandths of a cpu are asked for on ${node} with ${pod.metadata.name}, it has ${most}`);
		const places = Number(record.status?.allocatable?.['pods'] ?? 0);
		if (there.length > places) this.broken(`I9: ${node} takes ${places} pods, and has ${there.length} with ${pod.metadata.name}`);
		const ports = there.flatMap(({spec}) => (spec === undefined ? [] : claimedPorts(spec)));
		if (new Set(ports).size < ports.length) this.broken(`I9: a port of ${node} is claimed twice, by ${pod.metadata.name} last`);
	}

	/** Whether a bind that the scheduler forgot may still come, or has come and is there. */
	#isForgotten(node: string): boolean {
		return [...this.#open.forgottenOn(node)].some(
			uid => (this.#podsByUid.get(uid)?.spec?.nodeName ?? node) === node && this.#podsByUid.has(uid),
		);
	}

	/** Committed as lost, or without a record. */
	isGone(node: string): boolean {
		const record = this.#truth.get(nodeKey(node)) as NodeObject | undefined;
		return record === undefined || isLost(record);
	}

	/** No set ever has more pods than were once asked for: nothing is created twice. */
	#countPods({key, before, after}: Change): void {
		if (key.startsWith('replicasets/') && after !== undefined) this.#raiseMost(after.object as ReplicaSet);
		const {uid: owner, name = '', kind} = after?.object.metadata.ownerReferences?.[0] ?? {};
		const index = this.#cluster.control?.index;
		if (!key.startsWith('pods/') || before !== undefined || owner === undefined || kind !== 'ReplicaSet' || index === undefined) return;
		const pods = [...index.byOwner(owner)].filter(({metadata}) => metadata.deletionTimestamp === undefined).length;
		const forgotten = this.#open.forgottenBy(objectAddress(objectKey('replicasets', after?.object.metadata.namespace, name)));
		const most = (this.#mostReplicas.get(owner) ?? 0) + forgotten;
		if (pods > most) this.broken(`I5: ${key} is pod number ${pods} of a set that never wanted more than ${most}`);
	}

	#raiseMost({metadata, spec}: ReplicaSet): void {
		this.#mostReplicas.set(metadata.uid, Math.max(this.#mostReplicas.get(metadata.uid) ?? 0, spec?.replicas ?? 1));
	}

	/** I2: a control plane that comes back has all that was ever seen committed, and nothing older. */
	onLoaded(design: SystemDesign, {index, pipeline}: ControlSystem): void {
		if (this.#cluster.repairs.has(this.#cluster.disk)) this.broken('I2: a store was loaded that is damaged');
		if (this.#isTooNew(design)) this.broken('upgrade: a store that is newer than the code was loaded');
		const loaded = new Map<ObjectKey, Entry>([...index.all()].map(entry => [entry.key, entry]));
		const seen = this.#lastVersion;
		this.taints.isLoading = true;
		this.rollouts.onLoading();
		this.#jobs.isLoading = true;
		this.#crons.isLoading = true;
		if (pipeline.meta.version < seen) this.broken(`I2: the store is at version ${pipeline.meta.version} and was at ${seen}`);
		for (const [key, object] of [...this.#truth]) {
			const entry = loaded.get(key);
			if (entry === undefined && pipeline.meta.version === seen) this.broken(`I2: ${key} was committed and is gone`);
			if (entry !== undefined && entry.version < Number(object.metadata.resourceVersion))
				this.broken(`I2: ${key} was committed at ${object.metadata.resourceVersion} and is back at ${entry.version}`);
			if (entry === undefined) this.#learn(key, undefined);
		}
		for (const [key, {object, version}] of loaded) {
			if (version <= seen && this.#truth.get(key) === undefined && this.#lastVersion > 0)
				this.broken(`I2: ${key}@${version} was removed and is back`);
			this.#learn(key, object);
			if (key.startsWith('replicasets/')) this.#raiseMost(object as ReplicaSet);
			if (Number(object.metadata.annotations?.[upgradeMark] ?? '1') !== 1) this.broken(`upgrade: ${key} was upgraded twice`);
		}
		this.taints.isLoading = false;
		this.#jobs.isLoading = false;
		this.#crons.isLoading = false;
		this.#lastVersion = Math.max(seen, pipeline.meta.version);
		this.#cluster.hearing.onBegin();
		this.#open.reset();
		this.#lastInScope = new Map();
	}

	/** A store that is newer than the code stops the start, and only such a one is said to be. */
	onRefusedStart(design: SystemDesign, {message}: Failure): void {
		if (message.includes('newer version') && !this.#isTooNew(design)) this.broken(`upgrade: a start was refused: ${message}`);
	}

	#isTooNew(design: SystemDesign): boolean {
		return this.#cluster.wasUpgraded && this.newestSchema() > (design.schemaVersionOf('pods') ?? 1);
	}

	/** The newest schemaVersion that is on control's disk. */
	newestSchema(): number {
		const headers = [...this.#cluster.disk.bodies].filter(([key]) => key.startsWith('/troupe/registry/'));
		return Math.max(1, ...headers.map(([, body]) => Number(/"schemaVersion":(\d+)/.exec(body())?.[1] ?? 1)));
	}

	/** I2: what a client is told is on disk by then. */
	onAcknowledged(key: ObjectKey, told: ApiObject): void {
		const body = this.#cluster.disk.bodies.get(storeKey(key))?.();
		const version = Number(told.metadata.resourceVersion);
		const onDisk = this.#cluster.disk.meta?.version ?? 0;
		if (!(version <= onDisk)) return this.broken(`I2: ${key}@${told.metadata.resourceVersion} was acknowledged, the store is at ${onDisk}`);
		if (body === undefined) return;
		const kept = JSON.parse(body.slice(body.lastIndexOf('\n'))) as ApiObject;
		if (Number(kept.metadata.resourceVersion) < version)
			this.broken(`I2: ${key}@${version} was acknowledged, on disk it is at ${kept.metadata.resourceVersion}`);
	}

	// ---- who leads ---------------------------------------------------------------------------------------------------

	/** Two never write in one epoch, and none after a later one. */
	onDurable(server: Server, {next, writes}: Batch): void {
		if (this.#cluster.isTraced)
			this.#cluster.note(`${server.name} wrote ${writes.map(({key}) => key).join(' ') || 'nothing'} up to version ${next.version}`);
		const writer = this.#writerOf.get(next.epoch);
		if (writer === undefined) this.#writerOf.set(next.epoch, `${server.name}.${server.starts}`);
		else if (writer !== `${server.name}.${server.starts}`) this.broken(`leader: ${server.name} writes in the epoch of ${writer}`);
		if (next.epoch < Math.max(...this.#writerOf.keys()))
			this.broken(`leader: ${server.name} writes in epoch ${next.epoch} after a later one`);
	}

	/** Nothing leaves a server whose lease is another's, or nobody's, or that somebody has followed. */
	onSaid(server: Server, {epoch, holdsLease}: TermOfWorld, what: string): void {
		const {meta} = this.#cluster.disk;
		if (!holdsLease() || (meta?.epoch ?? 0) > (epoch() ?? Number.POSITIVE_INFINITY))
			this.broken(`leader: ${what} left ${server.name} after its term`);
	}

	mandated(server: Server, term: TermOfWorld, {control, bulk}: Links): Links {
		const over = (link: Link): Link => ({
			...link,
			send: (to, packet) => {
				this.onSaid(server, term, `a packet for ${to}`);
				link.send(to, packet);
			},
		});
		return {control: over(control), ...(bulk === undefined ? {} : {bulk: over(bulk)})};
	}

	// ---- what crashes ------------------------------------------------------------------------------------------------

	/** I7: what keeps crashing backs off. */
	onCrash(address: string): void {
		const nowMs = this.#cluster.world.clock.nowMs();
		const recent = [...(this.#crashes.get(address) ?? []), nowMs].filter(atMs => nowMs - atMs < minuteMs);
		this.#crashes.set(address, recent);
		if (recent.length > crashesAMinute + this.#cluster.crashesWanted)
			this.broken(`I7: ${address} crashed ${recent.length} times in a minute`);
	}
}

/** What the upgrade of the simulation adds to an object, and never twice. */
export const upgradeMark = 'upgrades';
