// The fence as text, and what stands for it in a store that is still empty. The same for every driver.

import {metaStoreKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {parsedJson} from '../../api/value-or.js';
import {sumOf} from './record-sum.js';
import type {Meta, RecordTotals} from './store.js';

/** What a batch expects of a store that was never written to. */
export const noMeta: Meta = {version: 0, epoch: 0, lineage: ''};

/** The lineage of a store while a backup is put into it. */
export const restoringLineage = 'restoring';

/** The same fence; what else is written with it follows from it. */
export const sameMeta = (a: Meta, b: Meta): boolean => a.version === b.version && a.epoch === b.epoch && a.lineage === b.lineage;

/** With a checksum of its own once it tells of the records: before that it is as older versions wrote it. */
export function formatMeta({version, epoch, lineage, replaces = [], records}: Meta): string {
	const members = {version, epoch, lineage, ...(replaces.length === 0 ? {} : {replaces})};
	if (records === undefined) return JSON.stringify(members);
	const all = {...members, records: {count: records.count, sum: records.sum}};
	return JSON.stringify({...all, check: sumOf(metaStoreKey, JSON.stringify(all))});
}

/** Undefined: the text is no meta of ours, or not as it was written. */
export function parseMeta(text: string): Meta | undefined {
	const {version, epoch, lineage, replaces, records} = Object(parsedJson(text)) as Partial<Meta>;
	if (!isCount(version) || !isCount(epoch) || typeof lineage !== 'string') return undefined;
	if (replaces !== undefined && !areLineages(replaces)) return undefined;
	if (records !== undefined && !areTotals(records)) return undefined;
	const meta: Meta = {
		version,
		epoch,
		lineage,
		...(replaces === undefined ? {} : {replaces}),
		...(records === undefined ? {} : {records}),
	};
	return formatMeta(meta) === text ? meta : undefined;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const areLineages = (value: unknown): value is readonly string[] =>
	Array.isArray(value) && value.length <= limits.lineagesReplaced && value.every(lineage => typeof lineage === 'string');

function areTotals(value: unknown): value is RecordTotals {
	const {count, sum} = Object(value) as Partial<RecordTotals>;
	return isCount(count) && typeof sum === 'string' && /^[0-9a-f]{32}$/.test(sum);
}

/** For messages: which state of the store is meant. */
export const aboutMeta = ({version, epoch}: Meta): string => `version ${version} of epoch ${epoch}`;
