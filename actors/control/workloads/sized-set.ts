// The ReplicaSets of a Deployment, each with how many pods it shall have and has: what a step of a rollout is decided by.

import type {ReplicaSet} from '../../../api/kinds/replicaset.js';
import type {Census} from './census.js';

export type SizedSet = {
	readonly set: ReplicaSet;
	/** `spec.replicas`. */
	readonly wanted: number;
	readonly census: Pick<Census, 'owned' | 'active' | 'ready' | 'available'>;
};

/** A set that is to have another number of pods. */
export type Scaling = {readonly sized: SizedSet; readonly replicas: number};

/** No more pods than these can there be, whatever is under way: a set that has seen its spec makes only what it wants. */
export const mostPodsOf = ({wanted, census}: SizedSet): number => Math.max(wanted, census.active);

/** So many available pods stay when all that is under way is done: a set deletes those first that can not be relied on. */
export const stayingOf = ({wanted, census}: SizedSet): number => Math.min(wanted, census.available);

export const sumOf = (sets: readonly SizedSet[], count: (sized: SizedSet) => number): number =>
	sets.reduce((sum, sized) => sum + count(sized), 0);

export const wantedOf = ({wanted}: SizedSet): number => wanted;
export const activeOf = ({census}: SizedSet): number => census.active;
export const readyOf = ({census}: SizedSet): number => census.ready;
export const availableOf = ({census}: SizedSet): number => census.available;

/** Without those that keep their size. */
export const changed = (scalings: readonly Scaling[]): readonly Scaling[] =>
	scalings.filter(({sized, replicas}) => replicas !== sized.wanted);
