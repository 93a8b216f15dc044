// Exclusive pods whose programs keep journals of their own, so what is compared is when they ran and not when somebody thought so.

import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setOf} from '../../bench/rigs/cluster/manifests.js';
import type {Owner} from '../../bench/rigs/owner.js';

/** Written all the time while it runs: the lease epoch, the kernel's time since boot, the node and the pod. */
const programEvery = (seconds: number): string =>
	`while :; do read -r up rest </proc/uptime; echo "$TROUPE_LEASE_EPOCH $up $NODE $POD" >>"$1"; sleep ${seconds}; done`;

const env = [
	{name: 'NODE', valueFrom: {fieldRef: {fieldPath: 'spec.nodeName'}}},
	{name: 'POD', valueFrom: {fieldRef: {fieldPath: 'metadata.uid'}}},
];

/** A set of one exclusive pod. */
export function exclusiveSet(name: string, journal: string, everySeconds = 0.05) {
	const set = setOf(name, 1);
	const container = {name: 'main', image: 'any', command: ['sh', '-c', programEvery(everySeconds), 'sh', journal], env};
	const template = {
		metadata: {labels: {app: name}, annotations: {'troupe.dev/exclusive': 'true'}},
		spec: {...set.spec.template.spec, terminationGracePeriodSeconds: 1, containers: [container]},
	};
	return {...set, spec: {...set.spec, template}};
}

export type Spell = {readonly epoch: number; readonly from: number; readonly to: number; readonly node: string; readonly pod: string};

/** From when to when each holder ran, in seconds since the boot. */
export function spellsIn(journal: string): readonly Spell[] {
	const spells = new Map<number, Spell>();
	for (const line of readFileSync(journal, 'utf8').trim().split('\n')) {
		const [first = '', second = '', node = '', pod = ''] = line.split(' ');
		const [epoch, at] = [Number(first || Number.NaN), Number(second || Number.NaN)];
		const {from, to} = spells.get(epoch) ?? {from: at, to: at};
		spells.set(epoch, {epoch, from: Math.min(from, at), to: Math.max(to, at), node, pod});
	}
	return [...spells.values()].filter(({epoch}) => !Number.isNaN(epoch)).toSorted((a, b) => a.epoch - b.epoch);
}

/** How many seconds two of them ran at once, at the longest; zero or less: never, and so long nobody ran. */
export const overlapOf = (spells: readonly Spell[]): number =>
	Math.max(
		...spells.flatMap((one, index) => spells.slice(index + 1).map(other => Math.min(one.to, other.to) - Math.max(one.from, other.from))),
	);

/** A file that any user may write. */
export function openJournal(owner: Owner): string {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-exclusive-'));
	owner.teardown(() => rmSync(folder, {recursive: true, force: true}));
	chmodSync(folder, 0o755);
	const journal = path.join(folder, 'journal');
	writeFileSync(journal, '');
	chmodSync(journal, 0o666);
	return journal;
}
