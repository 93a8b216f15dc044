// Damages the files of an embedded store as disks, copies and people do, and says what its next start makes of it.

import {cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {AppError} from '../../../api/errors.js';
import {storePrefix} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {openLevelStore} from '../../../system/store/level-store.js';
import {noMeta} from '../../../system/store/meta.js';
import type {Random} from '../../../system/time/random.js';
import type {Meta, StoredRecord} from '../../../system/store/store.js';
import {batchOf, commitTo, loadFrom, writing} from './store-contract.js';

/** What was acknowledged, by key. */
export type Truth = ReadonlyMap<string, string>;

export type Fate = 'harmless' | 'refused' | 'served';

export type Damage = {readonly what: string; readonly fate: Fate; /** What a person is told. */ readonly message: string};

const keyOf = (at: number): string => `/troupe/registry/pods/default/pod-${String(at).padStart(6, '0')}`;

/** Half of it does not compress, as sealed values do not. */
function bodyOf(random: Random, at: number, bytes: number): string {
	const noise = Array.from({length: bytes / 16}, () => Math.floor(random.next() * 0xffff_ffff).toString(16)).join('');
	return JSON.stringify({at, noise, calm: 'calm '.repeat(bytes / 10)});
}

/** Fills a new store in several lives: what is old is in tables, partly overwritten and removed, what is new in the log. */
export async function fillStore(directory: string, random: Random, records: number, bytes: number): Promise<Truth> {
	const truth = new Map<string, string>();
	let meta: Meta = noMeta;
	for (let life = 0; life < 3; life++) {
		const driver = await openLevelStore(directory);
		const from = Math.floor((records * life) / 4);
		for (let at = from; at < from + records / 2; at += limits.batchOperations / 2) {
			const keys = Array.from({length: limits.batchOperations / 2}, (_, i) => keyOf(at + i));
			const writes = keys.map((key, i) => writing(key, i % 9 === 8 ? undefined : bodyOf(random, at + i, bytes)));
			const batch = batchOf(meta, ...writes);
			const outcome = await commitTo(driver, batch);
			if (outcome.type !== 'committed') throw new Error(outcome.message);
			for (const {key, body} of writes)
				if (body === undefined) truth.delete(key);
				else truth.set(key, body());
			meta = batch.next;
		}
		await driver.close();
	}
	return truth;
}

/** Everything that a store is made of but its lock, the room that it keeps and LevelDB's notes for people. */
const filesIn = (directory: string): readonly string[] =>
	readdirSync(path.join(directory, 'level')).filter(name => !/^(LOCK|LOG|RESERVE)/.test(name));

const actions = ['flip', 'flip', 'flip', 'flip', 'blank', 'cut', 'empty', 'remove'] as const;

/** Damages a copy of the store in one place; `tables` of the tries meet a table, the others any of its files. */
export async function damagedOnce(directory: string, truth: Truth, random: Random, tables = 0.5): Promise<Damage> {
	const copy = mkdtempSync(path.join(tmpdir(), 'troupe-damage-'));
	try {
		cpSync(directory, copy, {recursive: true});
		const all = filesIn(copy);
		const few = all.filter(name => name.endsWith('.ldb') === random.next() < tables);
		const name = pick(few.length === 0 ? all : few, random);
		const what = `${strike(path.join(copy, 'level', name), pick(actions, random), random)} ${name}`;
		return {what, ...(await fateOf(copy, truth))};
	} finally {
		rmSync(copy, {recursive: true, force: true});
	}
}

const pick = <Value>(values: readonly Value[], random: Random): Value => {
	const value = values[Math.floor(random.next() * values.length)];
	if (value === undefined) throw new Error('there is nothing to pick');
	return value;
};

function strike(file: string, action: (typeof actions)[number], random: Random): string {
	const bytes = readFileSync(file);
	const at = Math.floor(random.next() * bytes.length);
	switch (action) {
		case 'flip':
			bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
			writeFileSync(file, bytes);
			return `a bit at ${at} of`;
		case 'blank':
			writeFileSync(file, bytes.fill(0, at, Math.min(at + 512, bytes.length)));
			return `zeros at ${at} of`;
		case 'cut':
			truncateSync(file, at);
			return `only ${at} bytes of`;
		case 'empty':
			truncateSync(file, 0);
			return 'nothing of';
		case 'remove':
			rmSync(file);
			return 'no';
	}
}

async function fateOf(directory: string, truth: Truth): Promise<Omit<Damage, 'what'>> {
	try {
		const driver = await openLevelStore(directory);
		try {
			const loaded = await loadFrom(driver, storePrefix);
			if (typeof loaded === 'string') return {fate: 'refused', message: loaded};
			return {fate: isTruth(loaded, truth) ? 'harmless' : 'served', message: ''};
		} finally {
			await driver.close();
		}
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return {fate: 'refused', message: error.message};
	}
}

const isTruth = (records: readonly StoredRecord[], truth: Truth): boolean =>
	records.length === truth.size && records.every(({key, body}) => truth.get(key) === body);
