// A Deployment with its ReplicaSets and pods, without a runtime: records look and commit one by one, and what they asked for is carried out
// in an order that a test or chance chooses. Each commit is judged.

import {admitCreate} from '../../api/admission.js';
import {kindOf} from '../../api/catalogue.js';
import {objectKey, type ObjectKey} from '../../api/keys.js';
import type {Deployment, DeploymentSpec} from '../../api/kinds/deployment.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {ReplicaSet} from '../../api/kinds/replicaset.js';
import {timestampOf, type ApiObject} from '../../api/object.js';
import {newObject} from '../../actors/control/objects/object-change.js';
import {failure} from '../../api/errors.js';
import type {EventNews, Pending} from '../../system/kernel/behavior.js';
import type {ObjectIndex} from '../../system/index/object-index.js';
import {seededRandom, type Random} from '../../system/time/random.js';
import {RolloutJudge} from '../_rollout-judge.js';
import {contextWith, drop, indexOf, keyOf, nowMs, put, ready, scheduled} from './_objects.js';
import {tellRecord, type Told} from './_records.js';

type Open = {readonly owner: ObjectKey; readonly write: Pending};

export class Rollout {
	readonly index: ObjectIndex;
	readonly judge = new RolloutJudge();
	readonly random: Random;
	readonly events: EventNews[] = [];
	nowMs = nowMs;
	/** A new pod never becomes ready while this holds. */
	isBad: (pod: Pod) => boolean = () => false;
	readonly #key: ObjectKey;
	#open: Open[] = [];
	/** Records that have not looked since something concerned them. */
	readonly #awake = new Set<ObjectKey>();
	/** When a record asked to look again. */
	readonly wakesAtMs = new Map<ObjectKey, number>();

	constructor(deployment: Deployment, seed = 1, ...others: readonly ApiObject[]) {
		this.random = seededRandom(seed);
		this.index = indexOf(...others, deployment);
		this.#key = keyOf(deployment);
		this.judge.change(undefined, deployment);
		this.#awake.add(this.#key);
	}

	get deployment(): Deployment {
		return this.index.get(this.#key) as Deployment;
	}

	get sets(): readonly ReplicaSet[] {
		return [...this.index.list('replicasets', 'default')] as ReplicaSet[];
	}

	get pods(): readonly Pod[] {
		return [...this.index.list('pods', 'default')] as Pod[];
	}

	/** The sizes of all sets, in order of their revision. */
	get sizes(): readonly number[] {
		const revision = ({metadata}: ReplicaSet): number => Number(metadata.annotations?.['deployment.kubernetes.io/revision']);
		return [...this.sets].sort((a, b) => revision(a) - revision(b)).map(({spec}) => spec?.replicas ?? 0);
	}

	condition(type: string): {readonly status?: string; readonly reason?: string | undefined; readonly message?: string | undefined} {
		return this.deployment.status?.conditions?.find(each => each.type === type) ?? {};
	}

	/** Another spec, as a client writes it. */
	change(spec: Partial<DeploymentSpec>, annotations: Record<string, string> = {}): void {
		this.#tell(this.#key, {type: 'patch', patch: {spec, metadata: {annotations}}});
		if (spec.template !== undefined) this.#replaceTemplate(spec.template);
		this.#awake.add(this.#key);
	}

	/** A merge patch keeps what it does not name. */
	#replaceTemplate(template: DeploymentSpec['template']): void {
		const {deployment} = this;
		this.#tell(this.#key, {type: 'replace', object: {...deployment, spec: {...deployment.spec, template}}});
	}

	/** One thing happens: a record looks, a write is carried out, or a pod goes on. False: there is nothing left to happen. */
	step(): boolean {
		const moves: (() => void)[] = [];
		for (const key of this.#awake) moves.push(() => this.look(key));
		// Of one owner to one target in order.
		const targets = new Set<string>();
		for (const open of this.#open) {
			const target = `${open.owner} ${open.write.type === 'create' ? 'create' : open.write.key}`;
			if (!targets.has(target)) moves.push(() => this.#carryOut(open));
			targets.add(target);
		}
		for (const pod of this.pods) {
			if (pod.metadata.deletionTimestamp !== undefined) moves.push(() => this.#commit(pod, undefined));
			else if (pod.status?.phase === 'Pending' && !this.isBad(pod)) moves.push(() => this.serve(pod));
		}
		const move = moves[Math.floor(this.random.next() * moves.length)];
		move?.();
		return move !== undefined;
	}

	/** Until nothing happens any more, or a test has seen enough. */
	run(until: () => boolean = () => false): void {
		for (let steps = 0; steps < 20_000; steps++) if (until() || !this.step()) return;
		throw new Error('the rollout does not come to rest');
	}

	serve(pod: Pod): void {
		const spec = {...pod.spec, nodeName: 'node-a'} as Pod['spec'];
		const readyNow = {...ready, lastTransitionTime: timestampOf(this.nowMs)};
		this.#commit(pod, {...pod, ...(spec === undefined ? {} : {spec}), status: {phase: 'Running', conditions: [scheduled, readyNow]}});
	}

	/** A program fails: the pod serves nobody, and starts again. */
	fail(pod: Pod): void {
		this.#commit(pod, {...pod, status: {phase: 'Pending', conditions: [scheduled]}});
	}

	/** The actor crashes: what it had under way is not its own any more. */
	forget(object: ApiObject): void {
		const key = keyOf(object);
		this.#open = this.#open.map(open => (open.owner === key ? {...open, owner: `${key}?`} : open));
		this.#awake.add(key);
	}

	look(key: ObjectKey): void {
		this.#awake.delete(key);
		if (this.index.get(key) !== undefined) this.#tell(key, {type: 'wake'});
	}

	#tell(key: ObjectKey, message: Told): void {
		const object = this.index.get(key);
		if (object === undefined) return;
		const pending = new Map(this.#open.filter(({owner}) => owner === key).map(({write}) => [write.id, write]));
		const {nowMs, random} = this;
		const {object: after, effects} = tellRecord(object, [message], contextWith(this.index, {pending, nowMs, random}));
		if (after !== object) this.#commit(object, after);
		for (const effect of effects) {
			if (effect.type === 'create' || effect.type === 'update' || effect.type === 'delete') this.#open.push({owner: key, write: effect});
			if (effect.type === 'update' && object.kind === 'Deployment') this.judge.decided(effect.key.slice(effect.key.lastIndexOf('/') + 1));
			if (effect.type === 'event') this.events.push(effect);
			else if (effect.type === 'wakeAt') this.wakesAtMs.set(key, effect.atMs);
		}
	}

	#carryOut(open: Open): void {
		this.#open = this.#open.filter(each => each !== open);
		const {owner, write} = open;
		if (write.type === 'create') this.#create(write.object);
		else if (write.type === 'update') this.#tell(write.key, write.message);
		else {
			const object = this.index.get(write.key);
			const isPod = object?.kind === 'Pod';
			if (object?.metadata.uid === write.uid)
				this.#commit(object, isPod ? {...object, metadata: {...object.metadata, deletionTimestamp: timestampOf(this.nowMs)}} : undefined);
		}
		this.#awake.add(owner);
	}

	#create(draft: Extract<Pending, {type: 'create'}>['object']): void {
		const admitted = admitCreate(draft);
		const definition = kindOf(draft.apiVersion, draft.kind);
		if (!admitted.ok || definition === undefined)
			throw new Error(JSON.stringify(admitted.ok ? failure('ERR_INTERNAL', {message: ''}) : admitted));
		const {namespace, name = ''} = draft.metadata;
		if (this.index.get(objectKey(definition.plural, namespace, name)) !== undefined) return;
		const {nowMs, random} = this;
		this.#commit(undefined, newObject(definition, admitted.value, contextWith(this.index, {nowMs, random})));
	}

	#commit(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		if (object === undefined) return;
		if (after === undefined) drop(this.index, object);
		else put(this.index, after);
		this.judge.change(before, after === undefined ? undefined : this.index.get(keyOf(after)));
		if (after !== undefined && after.kind !== 'Pod') this.#awake.add(keyOf(after));
		for (const {uid} of object.metadata.ownerReferences ?? []) {
			const owner = this.index.byUid(uid);
			if (owner === undefined) continue;
			this.#awake.add(keyOf(owner));
			for (const above of owner.metadata.ownerReferences ?? []) {
				const top = this.index.byUid(above.uid);
				if (top !== undefined) this.#awake.add(keyOf(top));
			}
		}
	}
}
