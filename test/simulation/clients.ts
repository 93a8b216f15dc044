// People with sets of pods: what they ask for, and what they were promised.

import type {Outcome} from '../../api/errors.js';
import {exclusiveAnnotation} from '../../api/exclusive.js';
import {objectKey} from '../../api/keys.js';
import type {Draft, ApiObject, JsonObject} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';
import {ClaimClients} from './claim-clients.js';
import type {SimulatedCluster} from './cluster.js';
import {JobClients} from './job-clients.js';
import {withSidecars} from './sidecars.js';
import {ServiceClients} from './services.js';
import {SetClients} from './set-clients.js';
import {sealedData} from './vault.js';
import type {Deed, Program, SetLike} from './plan.js';

/** The last acknowledged number of replicas of a set; undefined once its deletion was acknowledged. */
export type Promised = {
	replicas: number | undefined;
	readonly program: Program;
	/** Never more than one pod. */
	readonly exclusive: boolean;
	/** Requests whose outcome is not known, by their number, and what each would make of it. */
	readonly open: Map<number, number | undefined>;
};

const images: Readonly<Record<Program, string>> = {serves: 'program', fails: 'exit-1-after-20ms', ignoresTerm: 'ignores-term'};

type SetDeed = Extract<Deed, {type: 'create'}>;
type PodDeed = Extract<Deed, {type: 'createPod'}>;
type GuestDeed = Extract<Deed, {type: 'createGuest'}>;

export class Clients {
	readonly sets = new Map<string, Promised>();
	/** Pods that nobody owns; one whose deletion was asked for may be there or not. */
	readonly pods = new Map<string, 'promised' | 'leaving' | 'deleted'>();
	/** StatefulSets and DaemonSets. */
	readonly named: SetClients;
	/** Jobs and CronJobs. */
	readonly jobs: JobClients;
	readonly claims: ClaimClients;
	readonly services: ServiceClients;
	readonly #cluster: SimulatedCluster;
	readonly #closed = new Set<string>();
	/** What ConfigMaps and Secrets have, or are to have at the end. */
	readonly #configs = new Map<string, string>();
	#requests = 0;

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
		this.named = new SetClients(cluster);
		this.jobs = new JobClients(cluster);
		this.claims = new ClaimClients(cluster);
		this.services = new ServiceClients(cluster);
	}

	create(deed: SetDeed): void {
		const {set: name, replicas, program, exclusive = false} = deed;
		const promised: Promised = {replicas: undefined, program, exclusive, open: new Map([[this.#requests, undefined]])};
		this.sets.set(name, promised);
		this.#cluster.create('replicasets', replicaSet(deed), this.#answered(promised, replicas, 'create', name));
	}

	/** One that nobody owns, and that is there until it is deleted. */
	createPod(deed: PodDeed): void {
		const {claim} = deed;
		if (claim === undefined) return this.#createPod(deed);
		this.#cluster.create('persistentvolumeclaims', claimOf(claim), outcome => {
			if (outcome.ok || outcome.error.code === 'ERR_ALREADY_EXISTS') this.#createPod(deed);
		});
	}

	#createPod({pod: name, exclusive, held, claim, sidecars}: PodDeed): void {
		const volumes = claim === undefined ? {} : {volumes: [{name: 'data', persistentVolumeClaim: {claimName: claim}}]};
		const beside = sidecars === true ? withSidecars : {};
		const containers = [{name: 'main', image: 'program', command: ['serve']}];
		const spec = {...beside, containers, terminationGracePeriodSeconds: 1, ...volumes};
		const metadata = {name, namespace: 'default', ...annotated(exclusive === true), ...(held === true ? {finalizers: [hold]} : {})};
		this.#cluster.create('pods', {apiVersion: 'v1', kind: 'Pod', metadata, spec}, outcome => {
			this.#cluster.note(`create pod ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
			if (!outcome.ok) return;
			this.#cluster.invariants.onAcknowledged(objectKey('pods', 'default', name), outcome.value);
			this.pods.set(name, 'promised');
		});
	}

	/** What held a pod lets it go. */
	release(share: number): void {
		const held = this.#cluster.pods().filter(isHeld);
		const {metadata} = held[Math.floor(share * held.length)] ?? {};
		if (metadata === undefined) return;
		this.#cluster.invariants.released.add(metadata.uid);
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {metadata: {uid: metadata.uid, finalizers: null}}};
		this.#cluster.askRecord(objectKey('pods', 'default', metadata.name), patch, () => undefined);
	}

	/** Who is being deleted is let go; true as long as there is such a pod. */
	releaseAll(): boolean {
		const isThere = this.#cluster.pods().some(pod => isHeld(pod) && pod.metadata.deletionTimestamp !== undefined);
		if (isThere) this.release(0);
		return isThere;
	}

	/** Makes, changes or takes away a ConfigMap and a Secret. */
	configure(name: string, value: string | undefined): void {
		this.#configs.set(name, value ?? this.#configs.get(name) ?? 'first');
		for (const [plural, kind] of [
			['configmaps', 'ConfigMap'],
			['secrets', 'Secret'],
		] as const) {
			const key = objectKey(plural, 'default', name);
			const isThere = this.#cluster.invariants.truth(key) !== undefined;
			const data = kind === 'Secret' ? sealedData('default', name, value ?? '') : {VALUE: value ?? ''};
			const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {data}};
			if (value === undefined) this.#cluster.askRecord(key, {type: 'delete'}, () => undefined);
			else if (isThere) this.#cluster.askRecord(key, patch, () => undefined);
			else
				this.#cluster.create(plural, {apiVersion: 'v1', kind, metadata: {name, namespace: 'default'}, data}, outcome =>
					this.#cluster.note(`create ${plural} ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.message}`),
				);
		}
	}

	/** What somebody took away is made again; the names of what is not there. */
	configureAll(): string[] {
		return [...this.#configs].flatMap(([name, value]) => {
			const isThere = ['configmaps', 'secrets'].every(
				plural => this.#cluster.invariants.truth(objectKey(plural, 'default', name)) !== undefined,
			);
			if (!isThere) this.configure(name, value);
			return isThere ? [] : [name];
		});
	}

	createClass(name: string, value: number): void {
		const draft = {apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: {name}, value};
		this.#cluster.create('priorityclasses', draft, () => undefined);
	}

	/** One that nobody counts on: it may go for another. */
	createGuest({pod: name, cpu, priorityClass, port, bearsSeconds}: GuestDeed): void {
		const container = {
			name: 'main',
			image: 'program',
			command: ['serve'],
			resources: {requests: {cpu: String(cpu)}},
			...(port === undefined ? {} : {ports: [{containerPort: port}]}),
		};
		const toleration = {key: 'maintenance', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: bearsSeconds};
		const spec = {
			containers: [container],
			terminationGracePeriodSeconds: 1,
			...(priorityClass === undefined ? {} : {priorityClassName: priorityClass}),
			...(bearsSeconds === undefined ? {} : {tolerations: [toleration]}),
		};
		const draft = {apiVersion: 'v1', kind: 'Pod', metadata: {name, namespace: 'default'}, spec};
		this.#cluster.create('pods', draft, outcome =>
			this.#cluster.note(`create guest ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`),
		);
	}

	/** The node takes no further pods, or loses those that it has. */
	closeNode(node: string, spec: JsonObject): void {
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {spec}};
		this.#closed.add(node);
		this.#cluster.askRecord(objectKey('nodes', undefined, node), patch, () => undefined);
	}

	/** Until it is done: faults may be going on. */
	openNode(node: string): void {
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {spec: {taints: null, unschedulable: null}}};
		this.#cluster.askRecord(objectKey('nodes', undefined, node), patch, outcome => {
			if (outcome.ok) this.#closed.delete(node);
		});
	}

	/** Nodes that may still have a taint, or take no pods. */
	get closed(): ReadonlySet<string> {
		return this.#closed;
	}

	deletePod(name: string, graceSeconds: number | undefined): void {
		const message = {type: 'delete', ...(graceSeconds === undefined ? {} : {graceSeconds})};
		const asked = this.pods.has(name);
		if (asked) this.pods.set(name, 'leaving');
		this.#cluster.askRecord(objectKey('pods', 'default', name), message, outcome => {
			if (asked && outcome.ok) this.pods.set(name, 'deleted');
		});
	}

	scale(share: number, replicas: number): void {
		const [name, promised] = this.#chosen(share);
		if (name === undefined || promised === undefined) return;
		const wanted = promised.exclusive ? Math.min(1, replicas) : replicas;
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {spec: {replicas: wanted}}};
		this.#request(name, promised, wanted, patch);
	}

	delete(share: number): void {
		const [name, promised] = this.#chosen(share);
		if (name !== undefined && promised !== undefined) this.#request(name, promised, undefined, {type: 'delete'});
	}

	#chosen(share: number): readonly [string, Promised] | readonly [] {
		const known = [...this.sets].filter(([, {replicas}]) => replicas !== undefined);
		return known[Math.floor(share * known.length)] ?? [];
	}

	#request(name: string, promised: Promised, replicas: number | undefined, message: Message): void {
		this.#cluster.askRecord(keyOf(name), message, this.#answered(promised, replicas, message.type, name));
	}

	/**
	 * Until the answer comes, either the old or the new state may be; afterwards only what was acknowledged, and what was asked for
	 * later: requests of one client are handled in their order.
	 */
	#answered(promised: Promised, replicas: number | undefined, what: string, name: string): (outcome: Outcome<ApiObject>) => void {
		const number = ++this.#requests;
		promised.open.set(number, replicas);
		return outcome => {
			this.#cluster.note(`${what} ${name}: ${outcome.ok ? `acknowledged ${replicas ?? 'deletion'}` : outcome.error.code}`);
			if (!outcome.ok) return;
			if (replicas !== undefined) this.#cluster.invariants.onAcknowledged(keyOf(name), outcome.value);
			promised.replicas = replicas;
			for (const asked of [...promised.open.keys()]) if (asked <= number) promised.open.delete(asked);
		};
	}
}

const keyOf = (name: string): string => objectKey('replicasets', 'default', name);

/** Who holds a pod that is being deleted. */
const hold = 'simulation.troupe.dev/hold';
const isHeld = ({metadata}: ApiObject): boolean => metadata.finalizers?.includes(hold) === true;

const annotated = (exclusive: boolean): {annotations?: JsonObject} => (exclusive ? {annotations: {[exclusiveAnnotation]: 'true'}} : {});

const replicaSet = ({
	set: name,
	replicas,
	program,
	exclusive,
	like = {},
}: SetDeed): Omit<ApiObject, 'metadata'> & {metadata: JsonObject} => {
	const isLate = name.startsWith('late');
	const annotations = {...annotated(exclusive === true).annotations, ...(like.bytes === undefined ? {} : {blob: 'x'.repeat(like.bytes)})};
	const main = {name: 'main', image: images[program], command: ['serve'], ...(isLate ? probed : {}), ...configured(like)};
	return {
		apiVersion: 'apps/v1',
		kind: 'ReplicaSet',
		metadata: {name, namespace: 'default'},
		spec: {
			replicas,
			selector: {matchLabels: {set: name}},
			template: {
				metadata: {labels: {set: name}, ...(Object.keys(annotations).length === 0 ? {} : {annotations})},
				spec: {containers: [main], terminationGracePeriodSeconds: 1, ...(isLate ? prepared : {})},
			},
		},
	};
};

const configured = ({config: name}: SetLike): JsonObject => {
	if (name === undefined) return {};
	const ref = {name, key: 'VALUE'};
	return {
		env: [
			{name: 'SETTING', valueFrom: {configMapKeyRef: ref}},
			{name: 'SECRET', valueFrom: {secretKeyRef: ref}},
		],
	};
};

/** Some sets take all that a pod may need before it is ready. */
const probed = {readinessProbe: {exec: {command: ['true']}, initialDelaySeconds: 1}};
const prepared = {
	initContainers: [{name: 'prepare', image: 'exit-0-after-20ms', command: ['prepare']}],
	volumes: [{name: 'scratch', emptyDir: {}}],
};

const claimOf = (name: string): Draft => ({
	apiVersion: 'v1',
	kind: 'PersistentVolumeClaim',
	metadata: {name, namespace: 'default'},
	spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}},
});
