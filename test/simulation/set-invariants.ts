// What must hold of StatefulSets and DaemonSets at every moment: looked at as pods are committed, and as a set asks for something.

import {isConditionTrue} from '../../api/conditions.js';
import {objectKey, parseObjectKey} from '../../api/keys.js';
import type {DaemonSet} from '../../api/kinds/daemonset.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {ApiObject, OwnerReference} from '../../api/object.js';
import type {Context, Effect} from '../../system/kernel/behavior.js';
import type {Spy} from './spies.js';

type Truth = {
	readonly get: (key: string) => ApiObject | undefined;
	readonly pods: () => Iterable<Pod>;
	readonly broken: (what: string) => void;
};

const isActive = ({metadata, status}: Pod): boolean =>
	metadata.deletionTimestamp === undefined && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';
const isGood = (pod: Pod | undefined): boolean => pod !== undefined && isActive(pod) && isConditionTrue(pod.status?.conditions, 'Ready');

/** The only one that an exclusive pod's programs may run for: a name of a StatefulSet, the set that owns it, or the pod itself. */
export const soleOf = ({metadata: {uid, name, ownerReferences = []}}: Pod): string => {
	const [owner] = ownerReferences;
	if (owner === undefined) return uid;
	return owner.kind === 'StatefulSet' ? `${owner.uid}/${name}` : owner.uid;
};

const targetOf = ({spec}: Pod): string | undefined =>
	spec?.nodeName ??
	spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0];

export class SetInvariants {
	readonly #truth: Truth;
	/** Of the newest step of a DaemonSet: pods whose deletion it asks for, or has asked for and heard nothing of. */
	#leaving: {readonly of: Context | undefined; readonly ids: Set<string>} = {of: undefined, ids: new Set()};

	constructor(truth: Truth) {
		this.#truth = truth;
	}

	/** Never two of one DaemonSet on a node, with a surge never three. */
	onPod(pod: Pod): void {
		const owner = daemonSetOf(pod);
		if (owner === undefined || !isActive(pod)) return;
		const set = this.#truth.get(objectKey('daemonsets', pod.metadata.namespace, owner.name)) as DaemonSet | undefined;
		const node = targetOf(pod);
		const there = [...this.#truth.pods()].filter(
			other => daemonSetOf(other)?.uid === owner.uid && isActive(other) && targetOf(other) === node,
		);
		const most = set?.spec?.updateStrategy?.rollingUpdate?.maxSurge === 1 ? 2 : 1;
		if (there.length > most)
			this.#truth.broken(`I12: ${there.length} pods of ${owner.name} are on ${node}: ${there.map(({metadata}) => metadata.name).join()}`);
	}

	/** OrderedReady: nothing is made, nothing that is ready taken away, unless all others that shall be there are ready, those of higher numbers aside. */
	readonly ofStatefulSets: Spy = {
		asked: (self, effect) => {
			const name = self.slice(self.lastIndexOf('.') + 1);
			const set = this.#truth.get(objectKey('statefulsets', 'default', name)) as StatefulSet | undefined;
			if (set?.spec?.podManagementPolicy !== 'OrderedReady') return;
			const ordinal = ordinalAsked(effect);
			if (ordinal === undefined) return;
			const podOf = (number: number): Pod | undefined =>
				this.#truth.get(objectKey('pods', 'default', `${name}-${number}`)) as Pod | undefined;
			if (effect.type === 'delete' && !isGood(podOf(ordinal))) return;
			const replicas = set.spec.replicas ?? 1;
			const others = Array.from({length: effect.type === 'create' ? Math.min(ordinal, replicas) : replicas}, (_, number) => number);
			const lacking = others.filter(number => number !== ordinal && !isGood(podOf(number)));
			if (lacking.length > 0)
				this.#truth.broken(`I13: ${name} asks to ${effect.type} number ${ordinal}, and ${lacking.join()} cannot be relied on`);
			if (effect.type === 'create' && podOf(ordinal) !== undefined)
				this.#truth.broken(`I13: ${name} asks for number ${ordinal}, which is there`);
		},
	};

	/** Without a surge: what is ready goes from a node where it belongs only while no other node is without. */
	readonly ofDaemonSets: Spy = {
		asked: (self, effect, context) => {
			if (effect.type !== 'delete' || !effect.key.startsWith('pods/')) return;
			const name = self.slice(self.lastIndexOf('.') + 1);
			const set = this.#truth.get(objectKey('daemonsets', 'default', name)) as DaemonSet | undefined;
			const pod = this.#truth.get(effect.key) as Pod | undefined;
			if (set?.spec?.updateStrategy?.rollingUpdate?.maxSurge === 1 || pod === undefined || !isGood(pod)) return;
			const own = [...this.#truth.pods()].filter(each => daemonSetOf(each)?.uid === set?.metadata.uid);
			const node = targetOf(pod);
			if (this.#isClosed(node)) return;
			// By what the kernel has open: a step that was not committed has asked for nothing, and one that crashed forgets it.
			if (this.#leaving.of !== context) this.#leaving = {of: context, ids: new Set(context.pending.keys())};
			const leaving = this.#leaving.ids;
			const isGoing = ({metadata}: Pod): boolean => leaving.has(`delete/${metadata.uid}`);
			const isLast = own.filter(each => isActive(each) && targetOf(each) === node).length === 1;
			const without = own.filter(each => (!isGood(each) || isGoing(each)) && targetOf(each) !== node && !this.#isClosed(targetOf(each)));
			leaving.add(effect.id);
			if (isLast && without.length > 0)
				this.#truth.broken(`I12: ${name} takes ${pod.metadata.name} from ${node}, and ${without.map(targetOf).join()} is without one`);
		},
	};

	/** Nodes that somebody closed, or that are not there. */
	#isClosed(node: string | undefined): boolean {
		const record = this.#truth.get(objectKey('nodes', undefined, node ?? ''));
		const spec = record?.spec as {readonly taints?: readonly {readonly key: string}[]} | undefined;
		return record === undefined || spec?.taints?.some(({key}) => key === 'maintenance') === true;
	}
}

const daemonSetOf = ({metadata}: Pod): OwnerReference | undefined => metadata.ownerReferences?.find(({kind}) => kind === 'DaemonSet');

/** The number of the pod that is asked for, or asked to go. */
function ordinalAsked(effect: Effect): number | undefined {
	const name =
		effect.type === 'create' && effect.object.kind === 'Pod'
			? effect.object.metadata.name
			: effect.type === 'delete' && parseObjectKey(effect.key).plural === 'pods'
				? parseObjectKey(effect.key).name
				: undefined;
	return name === undefined ? undefined : Number(name.slice(name.lastIndexOf('-') + 1));
}
