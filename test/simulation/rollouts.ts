// Deployments as people change them, and what must hold of each at every moment: I11 says it of the bounds, I5 of how it ends.

import {conditionOf} from '../../api/conditions.js';
import {limits} from '../../api/limits.js';
import {objectKey} from '../../api/keys.js';
import type {Deployment} from '../../api/kinds/deployment.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {isReply} from '../../system/kernel/behavior.js';
import type {Message} from '../../system/kernel/behavior.js';
import {RolloutJudge} from '../_rollout-judge.js';
import type {SimulatedCluster} from './cluster.js';
import type {Deed} from './plan.js';
import type {Spy} from './spies.js';

type RollOut = Extract<Deed, {type: 'rollOut'}>;
type Change = Extract<Deed, {type: 'change'}>;

/** What an actor forgot by a crash may come for so long. */
const forgottenMs = 2 * limits.askDeadlineMs + 30_000;

export class Rollouts {
	readonly #cluster: SimulatedCluster;
	readonly #judges = new Map<string, RolloutJudge>();
	/** By address, what it asked for and has no answer to. */
	readonly #open = new Map<string, Set<string>>();
	readonly #names = new Set<string>();

	constructor(cluster: SimulatedCluster) {
		this.#cluster = cluster;
	}

	// ---- what clients ask for ------------------------------------------------------------------------------------------

	create({deployment: name, replicas, strategy}: RollOut): void {
		const draft = {
			apiVersion: 'apps/v1',
			kind: 'Deployment',
			metadata: {name, namespace: 'default'},
			spec: {replicas, selector: {matchLabels: {set: name}}, strategy, progressDeadlineSeconds: 30, template: templateOf(name, 'first')},
		};
		this.#cluster.create('deployments', draft, outcome => {
			this.#cluster.note(`create deployment ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
			if (!outcome.ok) return;
			this.#names.add(name);
			this.#cluster.invariants.onAcknowledged(keyOf(name), outcome.value);
		});
	}

	change({deployment: share, version, replicas, paused}: Omit<Change, 'type'>): void {
		const name = [...this.#names][Math.floor(share * this.#names.size)];
		if (name === undefined) return;
		const spec: JsonObject = {
			...(version === undefined ? {} : {template: templateOf(name, version)}),
			...(replicas === undefined ? {} : {replicas}),
			...(paused === undefined ? {} : {paused}),
		};
		const patch: Message & {patch: JsonObject} = {type: 'patch', patch: {spec}};
		this.#cluster.askRecord(keyOf(name), patch, outcome => {
			this.#cluster.note(`change of deployment ${name}: ${outcome.ok ? 'acknowledged' : outcome.error.code}`);
			if (outcome.ok) this.#cluster.invariants.onAcknowledged(keyOf(name), outcome.value);
		});
	}

	/** What is not as it should be at the end; a template that cannot work, or waits, is put right first. */
	unsettled(): string[] {
		return [...this.#names].flatMap((name, index) => {
			const deployment = this.#cluster.invariants.truth(keyOf(name)) as Deployment | undefined;
			if (deployment?.spec === undefined) return [`I2: deployment ${name} was acknowledged and is gone`];
			const isBad = versionIn(deployment.spec.template) === 'bad';
			if (isBad || deployment.spec.paused === true) {
				this.change({deployment: index / this.#names.size, paused: false, ...(isBad ? {version: 'last'} : {})});
				return [`I5: deployment ${name} has to go on`];
			}
			return this.#incomplete(name, deployment);
		});
	}

	#incomplete(name: string, {metadata, spec, status = {}}: Deployment): string[] {
		const found: string[] = [];
		const wanted = spec?.replicas ?? 1;
		const version = versionIn(spec?.template);
		const pods = this.#cluster.pods().filter(({metadata: {labels}}) => labels?.['set'] === name);
		const {replicas, updatedReplicas, availableReplicas, observedGeneration} = status;
		if (pods.length !== wanted) found.push(`I5: deployment ${name}: ${wanted} pods are wanted, there are ${pods.length}`);
		for (const pod of pods)
			if (versionIn(pod) !== version) found.push(`I5: deployment ${name}: ${pod.metadata.name} is not of the template ${version}`);
		if (observedGeneration !== metadata.generation || ![replicas, updatedReplicas, availableReplicas].every(count => count === wanted))
			found.push(`I5: deployment ${name}: ${wanted} are wanted, its status says ${JSON.stringify({...status, conditions: undefined})}`);
		const progress = conditionOf(status.conditions, 'Progressing')?.reason;
		if (progress !== 'NewReplicaSetAvailable') found.push(`I5: deployment ${name} says ${progress ?? 'nothing'} of its progress`);
		return found;
	}

	// ---- what is committed ---------------------------------------------------------------------------------------------

	onChange(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		if (object?.kind === 'Deployment' && !this.#judges.has(object.metadata.uid))
			this.#judges.set(object.metadata.uid, new RolloutJudge(object.metadata.uid, node => this.#cluster.invariants.isGone(node)));
		for (const judge of this.#judges.values()) {
			judge.nowMs = this.#cluster.world.clock.nowMs();
			judge.change(before, after);
			for (const what of judge.violations.splice(0)) this.#cluster.invariants.broken(`I11: ${what}`);
		}
	}

	/** A control plane that comes back shows at once what was committed before it went. */
	onLoading(): void {
		this.#open.clear();
		for (const judge of this.#judges.values()) judge.excuse(this.#cluster.world.clock.nowMs());
	}

	/** One step at a time: each set of the Deployment has seen what it was asked for last. */
	#checkStep(key: string): void {
		const owner = this.#cluster.invariants.truth(key)?.metadata.ownerReferences?.[0]?.uid;
		for (const {metadata, status} of this.#cluster.objects('replicasets') as ReplicaSet[]) {
			if (owner === undefined || metadata.ownerReferences?.[0]?.uid !== owner || metadata.deletionTimestamp !== undefined) continue;
			if (status?.observedGeneration !== metadata.generation)
				this.#cluster.invariants.broken(`I11: a Deployment takes a step, and ${metadata.name} has not seen the one before`);
		}
	}

	/** Of Deployments and their sets: what a crash forgot may come beside what is asked for anew. */
	readonly spy: Spy = {
		began: self => {
			if ((this.#open.get(self)?.size ?? 0) > 0)
				for (const judge of this.#judges.values()) judge.excuse(this.#cluster.world.clock.nowMs() + forgottenMs);
			this.#open.delete(self);
		},
		told: (self, message) => void (isReply(message) && this.#open.get(self)?.delete(message.id)),
		asked: (self, effect) => {
			if (effect.type === 'update' && self.includes('/deployments/')) {
				for (const judge of this.#judges.values()) judge.decided(effect.key.slice(effect.key.lastIndexOf('/') + 1));
				if (effect.id.startsWith('scale/')) this.#checkStep(effect.key);
			}
			if (effect.type !== 'create' && effect.type !== 'update' && effect.type !== 'delete') return;
			this.#open.set(self, (this.#open.get(self) ?? new Set<string>()).add(effect.id));
		},
	};
}

const keyOf = (name: string): string => objectKey('deployments', 'default', name);

const versionIn = (value: unknown): string => /"VERSION","value":"(\w+)"/.exec(JSON.stringify(value))?.[1] ?? 'none';

/** A bad one fits on no node. */
const templateOf = (name: string, version: string): JsonObject => ({
	metadata: {labels: {set: name}},
	spec: {
		containers: [{name: 'main', image: 'program', command: ['serve'], env: [{name: 'VERSION', value: version}]}],
		nodeSelector: version === 'bad' ? {fits: 'nowhere'} : null,
		terminationGracePeriodSeconds: 1,
	},
});
