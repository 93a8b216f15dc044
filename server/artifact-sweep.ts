// Artifacts that nothing names any more are removed, at the start of a term and from then on once an hour. One that was uploaded just now, or
// asked for by who means to name it, has that hour to be named.

import {functionInstanceOf} from '../api/function-instance.js';
import type {FunctionObject} from '../api/kinds/function.js';
import {haveExpired, type SlurmJob} from '../api/kinds/slurmjob.js';
import type {ReplicaSet} from '../api/kinds/replicaset.js';
import {limits} from '../api/limits.js';
import type {Known} from '../system/index/object-index.js';
import type {Cancel, Clock} from '../system/time/clock.js';
import type {ArtifactStore} from './artifact-store.js';

export type ArtifactSweepOptions = {
	readonly artifacts: Pick<ArtifactStore, 'list' | 'remove' | 'clear'>;
	readonly known: Pick<Known, 'list'>;
	readonly clock: Clock;
	readonly onProblem: (error: unknown) => void;
	/** After each look. */
	readonly onSwept?: (removed: number) => void;
};

/** Looks now and again and again, until what comes back is called. */
export function startArtifactSweep(options: ArtifactSweepOptions): Cancel {
	const {clock, onProblem, onSwept} = options;
	let isOpen = true;
	let cancel: Cancel = () => undefined;
	const look = async (): Promise<void> => {
		const removed = await sweep(options).catch((error: unknown) => {
			if (isOpen) onProblem(error);
			return 0;
		});
		if (!isOpen) return;
		cancel = clock.after(limits.artifactSweepMs, () => void look());
		onSwept?.(removed);
	};
	void look();
	return () => {
		isOpen = false;
		cancel();
	};
}

async function sweep({artifacts, known, clock}: ArtifactSweepOptions): Promise<number> {
	await artifacts.clear();
	const nowMs = clock.nowMs();
	const named = namedArtifacts(known, nowMs);
	const unused = artifacts.list().filter(({digest, wantedAtMs}) => !named.has(digest) && nowMs - wantedAtMs > limits.artifactUnusedMs);
	// All at once: none of them may be found, and named, while another one is being removed.
	await Promise.all(unused.map(({digest}) => artifacts.remove(digest)));
	return unused.length;
}

/** Digests that Functions name, the versions of them that are kept, and pods; and SlurmJobs: their sources, and results that have not expired. */
function namedArtifacts(known: Pick<Known, 'list'>, nowMs: number): ReadonlySet<string> {
	const named = new Set<string>();
	const add = (digest: string | undefined): void => void (digest === undefined || named.add(digest));
	for (const object of known.list('functions')) add((object as FunctionObject).spec?.artifact);
	for (const object of known.list('replicasets'))
		add(functionInstanceOf((object as ReplicaSet).spec?.template.metadata?.annotations)?.artifact);
	for (const object of known.list('slurmjobs')) {
		const {spec, status} = object as SlurmJob;
		add(spec?.artifact);
		if (!haveExpired(status, nowMs)) for (const {digest} of status?.artifacts ?? []) add(digest);
	}
	for (const {metadata} of known.list('pods')) add(functionInstanceOf(metadata.annotations)?.artifact);
	return named;
}
