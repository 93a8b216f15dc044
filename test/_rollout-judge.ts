// Judges rollouts by what was committed, change by change: the bounds of a Deployment at each moment.
//
// It knows nothing of how steps are decided: pods are counted one by one, from the objects alone.

import type {Deployment} from '../api/kinds/deployment.js';
import type {Pod} from '../api/kinds/pod.js';
import type {ReplicaSet} from '../api/kinds/replicaset.js';
import type {ApiObject} from '../api/object.js';

type SetRecord = {set: ReplicaSet; lossesBefore: number};

const over: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);
const isActive = ({metadata, status}: Pod): boolean => metadata.deletionTimestamp === undefined && !over.has(status?.phase ?? '');
const isAvailable = (pod: Pod): boolean =>
	isActive(pod) && pod.status?.conditions?.some(({type, status}) => type === 'Ready' && status === 'True') === true;
const controllerOf = ({metadata}: ApiObject): string =>
	metadata.ownerReferences?.find(({controller}) => controller === true)?.uid ?? metadata.uid;

function part(value: number | string | undefined, total: number, round: (value: number) => number): number {
	return typeof value === 'string' ? round((Number.parseInt(value, 10) / 100) * total) : (value ?? 0);
}

function boundsOf({spec}: Deployment): {readonly most: number; readonly least: number} {
	const replicas = spec?.replicas ?? 1;
	if (spec?.strategy?.type === 'Recreate') return {most: replicas, least: Number.NEGATIVE_INFINITY};
	const surge = part(spec?.strategy?.rollingUpdate?.maxSurge, replicas, Math.ceil);
	const missing = part(spec?.strategy?.rollingUpdate?.maxUnavailable, replicas, Math.floor);
	return {most: replicas + surge, least: replicas - (surge + missing === 0 ? 1 : missing)};
}

/** What one Deployment's pods were at each moment. */
export class RolloutJudge {
	readonly violations: string[] = [];
	/** The most pods there were at a time, and the fewest available after a voluntary deletion of one of them. */
	mostPods = 0;
	leastAvailable = Number.POSITIVE_INFINITY;
	voluntary = 0;
	#deployment: Deployment | undefined;
	readonly #sets = new Map<string, SetRecord>();
	readonly #pods = new Map<string, Pod>();
	#most = 0;
	#least = Number.POSITIVE_INFINITY;
	/** Available pods that were lost without being asked to go, in all. */
	#losses = 0;
	readonly #decisions = new Map<string, {readonly losses: number; readonly changes: number}>();
	/** When each pod became available. */
	readonly #availableAt = new Map<string, number>();
	#changes = 0;
	#isExcused = false;
	#excusedUntilMs = 0;
	nowMs = 0;
	readonly #uid: string | undefined;
	readonly #isLost: (node: string) => boolean;

	/** Of one Deployment, else of the only one there is; `isLost`: what is deleted on such a node went by itself. */
	constructor(uid?: string, isLost: (node: string) => boolean = () => false) {
		this.#uid = uid;
		this.#isLost = isLost;
	}

	/** The size of a set is decided now, as things are: to be told where that can be seen. Else its last size is taken for that moment. */
	decided(set: string): void {
		this.#decisions.set(set, {losses: this.#losses, changes: this.#changes});
	}

	/** What a crash forgot may come until then: before all is settled after it nothing is judged. */
	excuse(untilMs: number): void {
		this.#excusedUntilMs = Math.max(this.#excusedUntilMs, untilMs);
		this.#isExcused = true;
	}

	/** A committed change; `after` undefined: it was removed. */
	change(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		this.#changes++;
		if (object?.kind === 'Deployment' && (this.#uid ?? object.metadata.uid) === object.metadata.uid)
			this.#onDeployment(after as Deployment | undefined);
		else if (object?.kind === 'ReplicaSet') this.#onSet(object as ReplicaSet, after === undefined);
		else if (object?.kind === 'Pod') this.#onPod(this.#pods.get(object.metadata.uid), object as Pod, after === undefined);
		this.#settle();
	}

	#onDeployment(deployment: Deployment | undefined): void {
		this.#deployment = deployment;
		if (deployment === undefined) return;
		const {most, least} = boundsOf(deployment);
		this.#most = Math.max(this.#most, most);
		this.#least = Math.min(this.#least, least);
	}

	#onSet(set: ReplicaSet, isGone: boolean): void {
		const {uid} = set.metadata;
		const known = this.#sets.get(uid);
		if (isGone) this.#sets.delete(uid);
		else if (known === undefined) this.#sets.set(uid, {set, lossesBefore: this.#losses});
		else {
			// What was lost since its spec was last another one may not have been known when this one was decided.
			if (known.set.metadata.generation !== set.metadata.generation) known.lossesBefore = this.#lossesAt(uid);
			known.set = set;
		}
	}

	readonly #lastSpecLosses = new Map<string, number>();

	/** Losses up to the change of the spec before this one. */
	#lossesAt(uid: string): number {
		const before = this.#lastSpecLosses.get(uid) ?? 0;
		this.#lastSpecLosses.set(uid, this.#losses);
		return before;
	}

	#onPod(before: Pod | undefined, pod: Pod, isGone: boolean): void {
		if (isGone) this.#pods.delete(pod.metadata.uid);
		else this.#pods.set(pod.metadata.uid, pod);
		const record = this.#sets.get(controllerOf(pod));
		if (record === undefined || !this.#isOurs(record.set)) return;
		const active = this.#active().length;
		this.mostPods = Math.max(this.mostPods, active);
		const isNew = !isGone && isActive(pod) && (before === undefined || controllerOf(before) !== controllerOf(pod));
		if (isNew && active > this.#most && !this.#isExcused)
			this.violations.push(`${pod.metadata.name} is pod number ${active}, and there may be ${this.#most}`);
		if (isNew && this.#deployment?.spec?.strategy?.type === 'Recreate' && this.#isBesideOthers(pod) && !this.#isExcused)
			this.violations.push(`${pod.metadata.name} was made while pods of another template were not gone yet`);
		const wasAvailable = before !== undefined && isAvailable(before);
		if (!wasAvailable && isAvailable(pod)) this.#availableAt.set(pod.metadata.uid, this.#changes);
		if (!wasAvailable || (!isGone && isAvailable(pod))) return;
		const ofSet = this.#active().filter(each => controllerOf(each) === record.set.metadata.uid).length;
		const isAway = this.#isLost(pod.spec?.nodeName ?? '');
		const isAskedFor = !isAway && (isGone || pod.metadata.deletionTimestamp !== undefined) && ofSet >= (record.set.spec?.replicas ?? 1);
		if (isAskedFor) this.#onVoluntary(pod, record);
		else this.#losses++;
	}

	#isBesideOthers(pod: Pod): boolean {
		const others = new Set(this.#ours().map(({set}) => set.metadata.uid));
		others.delete(controllerOf(pod));
		return [...this.#pods.values()].some(each => others.has(controllerOf(each)) && !over.has(each.status?.phase ?? ''));
	}

	#onVoluntary(pod: Pod, {set, lossesBefore}: SetRecord): void {
		const left = this.#active().filter(isAvailable).length;
		this.voluntary++;
		this.leastAvailable = Math.min(this.leastAvailable, left);
		const decision = this.#decisions.get(set.metadata.name);
		// One that served nobody then, and was to go before those that did.
		if (decision !== undefined && (this.#availableAt.get(pod.metadata.uid) ?? 0) > decision.changes) return;
		const forgiven = this.#losses - (decision?.losses ?? lossesBefore);
		if (left + forgiven >= this.#least || this.#isExcused) return;
		this.violations.push(
			`${pod.metadata.name} of ${set.metadata.name} was deleted, ${left} available are left (${forgiven} were lost meanwhile), and there must be ${this.#least}`,
		);
	}

	#isOurs(set: ReplicaSet): boolean {
		return this.#deployment !== undefined && controllerOf(set) === this.#deployment.metadata.uid;
	}

	#ours(): SetRecord[] {
		return [...this.#sets.values()].filter(({set}) => this.#isOurs(set));
	}

	#active(): Pod[] {
		const uids = new Set(this.#ours().map(({set}) => set.metadata.uid));
		return [...this.#pods.values()].filter(pod => isActive(pod) && uids.has(controllerOf(pod)));
	}

	/** Once nothing of an earlier spec can be under way, only the present bounds count. */
	#settle(): void {
		const deployment = this.#deployment;
		if (deployment === undefined || deployment.status?.observedGeneration !== deployment.metadata.generation) return;
		const sets = this.#ours();
		if (sets.some(({set}) => set.status?.observedGeneration !== set.metadata.generation)) return;
		const active = this.#active();
		const sizes = sets.map(({set}) => ({
			wanted: set.spec?.replicas ?? 1,
			active: active.filter(pod => controllerOf(pod) === set.metadata.uid).length,
		}));
		const {most, least} = boundsOf(deployment);
		if (sizes.some(size => size.active > size.wanted)) return;
		if (sizes.reduce((sum, {wanted}) => sum + wanted, 0) <= most) this.#most = most;
		this.#least = least;
		if (this.nowMs >= this.#excusedUntilMs) this.#isExcused = false;
	}
}
