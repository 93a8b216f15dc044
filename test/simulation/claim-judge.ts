// The claims of StatefulSets, at every moment: each goes only where its set says so.

import type {StatefulSet} from '../../api/kinds/statefulset.js';
import type {ApiObject} from '../../api/object.js';

/** Claims are called so, and sets have names without a hyphen. */
const named = /^data-([^-]+)-(\d+)$/;

export class ClaimJudge {
	readonly #broken: (what: string) => void;
	/** By name, as committed; one that is gone keeps its last spec. */
	readonly #sets = new Map<string, {readonly set: StatefulSet; readonly isThere: boolean}>();
	readonly #claims = new Map<string, ApiObject>();
	/** Uids of claims for which their set was too small once, and said that they go then. */
	readonly #tooMany = new Set<string>();

	constructor(broken: (what: string) => void) {
		this.#broken = broken;
	}

	onChange(before: ApiObject | undefined, after: ApiObject | undefined): void {
		const object = after ?? before;
		if (object?.kind === 'StatefulSet') this.#onSet(object as StatefulSet, after !== undefined && !isGoing(after));
		if (object?.kind === 'PersistentVolumeClaim' && named.test(object.metadata.name)) this.#onClaim(before, after, object);
	}

	#onSet(set: StatefulSet, isThere: boolean): void {
		this.#sets.set(set.metadata.name, {set, isThere});
		for (const claim of this.#claims.values()) this.#note(claim);
	}

	#onClaim(before: ApiObject | undefined, after: ApiObject | undefined, {metadata: {uid, name}}: ApiObject): void {
		if (after === undefined) this.#claims.delete(uid);
		else this.#claims.set(uid, after);
		if (after !== undefined) this.#note(after);
		const begins = (after === undefined || isGoing(after)) && before !== undefined && !isGoing(before);
		if (!begins || this.#tooMany.has(uid)) return;
		const {set, isThere = false} = this.#sets.get(named.exec(name)?.[1] ?? '') ?? {};
		const goesWithSet = !isThere && set?.spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete';
		if (!goesWithSet)
			this.#broken(`I13: claim ${name} goes, and its set is ${isThere ? 'there, and wants its pod' : 'one that leaves claims'}`);
	}

	#note({metadata: {uid, name}}: ApiObject): void {
		const [, base = '', ordinal] = named.exec(name) ?? [];
		const {spec} = this.#sets.get(base)?.set ?? {};
		const goes = spec?.persistentVolumeClaimRetentionPolicy?.whenScaled === 'Delete';
		if (goes && Number(ordinal) >= (spec.replicas ?? 1)) this.#tooMany.add(uid);
	}
}

const isGoing = ({metadata}: ApiObject): boolean => metadata.deletionTimestamp !== undefined;
