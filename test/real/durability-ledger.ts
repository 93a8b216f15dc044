// What the writer of the durability test writes and says, and what must be found after it was killed.

import {createHash} from 'node:crypto';
import type {ApiObject} from '../../api/object.js';
import type {ObjectIndex} from '../../system/index/object-index.js';

export type Spec = {readonly turn: number; readonly text: string; readonly sum: string};

export const writtenKey = (number: number): string => `pods/default/w${number}`;

const numberOf = (key: string): number => Number(key.slice('pods/default/w'.length));

/** Turns of one life of the writer begin at a number of their own, whose first turn is never a removal. */
export const firstTurn = (life: number): number => life * 1_000_000;

/** Every fifth key is removed in every fourth turn. */
export const isRemoval = (key: string, turn: number): boolean => numberOf(key) % 5 === 0 && turn % 4 === 3;

export const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** About 1 KB. */
export function writtenObject(number: number, turn: number): ApiObject<Spec> {
	const text = `${number}:${turn};`.repeat(60);
	const metadata = {name: `w${number}`, namespace: 'default', uid: `u${number}`, resourceVersion: '', generation: turn};
	return {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {...metadata, creationTimestamp: '2030-01-01T00:00:00Z'},
		spec: {turn, text, sum: sumOf(text)},
	};
}

/** One acknowledgement as a line. The last character tells a whole line from one that the kill has cut. */
export const ackLine = (key: string, version: number, turn: number): string => `ack ${key} ${version} ${turn}.\n`;
export const errorLine = (code: string, message: string): string => `error ${code} ${message}.\n`;

export type Ack = {readonly key: string; readonly version: number; readonly turn: number};

export function parseAck(line: string): Ack | undefined {
	const [, key, version, turn] = /^ack (\S+) (\d+) (\d+)\.$/.exec(line) ?? [];
	return key === undefined ? undefined : {key, version: Number(version), turn: Number(turn)};
}

export type Ledger = {
	readonly last: Map<string, Ack>;
	readonly problems: string[];
	acknowledged: number;
	newestVersion: number;
};

export const emptyLedger = (): Ledger => ({last: new Map(), problems: [], acknowledged: 0, newestVersion: 0});

export function acknowledge(ledger: Ledger, ack: Ack): void {
	if (ack.version <= ledger.newestVersion) ledger.problems.push(`version ${ack.version} was acknowledged after ${ledger.newestVersion}`);
	ledger.newestVersion = ack.version;
	ledger.acknowledged++;
	ledger.last.set(ack.key, ack);
}

/** Compares what a new process finds with what the killed one has acknowledged. */
export function compare({last, problems, newestVersion}: Ledger, index: ObjectIndex): void {
	if (index.version < newestVersion) problems.push(`the counter went back from ${newestVersion} to ${index.version}`);
	for (const ack of last.values()) {
		const entry = index.entry(ack.key);
		if (entry === undefined) {
			if (!isRemoval(ack.key, ack.turn) && !isRemoval(ack.key, ack.turn + 1)) problems.push(`${ack.key}, version ${ack.version}, is gone`);
			continue;
		}
		const {turn} = entry.object.spec as Spec;
		if (entry.version < ack.version) problems.push(`${ack.key} went back from version ${ack.version} to ${entry.version}`);
		if (entry.version === ack.version && turn !== ack.turn)
			problems.push(`${ack.key} holds turn ${turn} at version ${ack.version}, not ${ack.turn}`);
	}
	const versions = new Set<number>();
	for (const {key, object, version} of index.all()) {
		const {text, sum} = object.spec as Spec;
		if (sumOf(text) !== sum) problems.push(`${key} is torn`);
		if (versions.has(version)) problems.push(`version ${version} was given twice`);
		versions.add(version);
	}
}
