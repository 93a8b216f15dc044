// What was used in the last minutes: a point for each sample, and what they come to in as many steps as somebody asks for. Nothing of it is stored. Pure.

import {limits} from '../../../api/limits.js';
import type {UsageSeries} from '../../protocol/usage-message.js';
import type {ContainerId} from '../runtime/runtime-port.js';
import type {Measurement, ResourceUsage} from './report.js';

/** What one sample told. Containers are told apart by their place in `keys`, which points with the same containers share; NaN: it was not known. */
export type HistoryPoint = {
	/** Of the clock that never jumps. */
	readonly atMs: number;
	readonly node: Used;
	readonly keys: readonly string[];
	readonly containers: {readonly cpuNanocores: Float64Array; readonly memoryBytes: Float64Array};
};

type Used = {readonly cpuNanocores: number; readonly memoryBytes: number};

export type UsageHistory = {
	readonly stepMs: number;
	readonly node: UsageSeries;
	readonly containers: readonly (ContainerId & UsageSeries)[];
};

/** With what a measurement tells, without what is too old or too much. One that comes too soon after the last, since somebody asked, is left out. */
export function withPoint(history: readonly HistoryPoint[], measured: Measurement, monotonicMs: number): readonly HistoryPoint[] {
	const last = history.at(-1);
	if (last !== undefined && monotonicMs - last.atMs < limits.usageSampleMs / 2) return history;
	const kept = history.filter(({atMs}) => monotonicMs - atMs < limits.usageHistoryMs);
	const all = [...kept, pointOf(measured, monotonicMs, last)];
	let figures = 0;
	const oldest = all.findLastIndex(({keys}) => (figures += keys.length + 1) > limits.usageHistoryFigures);
	return all.slice(oldest + 1);
}

const keyOf = ({uid, container}: ContainerId): string => `${uid}/${container}`;

function pointOf({node, containers}: Measurement, atMs: number, last: HistoryPoint | undefined): HistoryPoint {
	const keys = containers.map(({usage}) => keyOf(usage));
	const isSame = last?.keys.length === keys.length && keys.every((key, index) => key === last.keys[index]);
	return {
		atMs,
		node: usedOf(node.usage),
		keys: isSame ? last.keys : keys,
		containers: {
			cpuNanocores: Float64Array.from(containers, ({usage}) => usage.cpuNanocores ?? NaN),
			memoryBytes: Float64Array.from(containers, ({usage}) => usage.memoryBytes ?? NaN),
		},
	};
}

const usedOf = ({cpuNanocores, memoryBytes}: ResourceUsage): Used => ({
	cpuNanocores: cpuNanocores ?? NaN,
	memoryBytes: memoryBytes ?? NaN,
});

/** The last minutes in so many steps, of the node and of these containers; of fewer steps where the answer would be too long, and of very many containers none of it. */
export function historyOf(history: readonly HistoryPoint[], nowMs: number, steps: number, asked: readonly ContainerId[]): UsageHistory {
	const containers = asked.length > limits.usageHistoryContainers ? [] : asked;
	const most = Math.floor(limits.usageHistoryAnswer / (containers.length + 1));
	const count = Math.max(1, Math.min(steps, limits.usageHistorySteps, most));
	const stepMs = limits.usageHistoryMs / count;
	const begunMs = nowMs - limits.usageHistoryMs;
	const places = new Map<readonly string[], ReadonlyMap<string, number>>();
	const placesIn = (keys: readonly string[]): ReadonlyMap<string, number> => {
		const known = places.get(keys) ?? new Map(keys.map((key, index) => [key, index]));
		places.set(keys, known);
		return known;
	};
	const inSteps = history.flatMap(point => {
		const step = Math.floor((point.atMs - begunMs) / stepMs);
		return step < 0 ? [] : [{step: Math.min(step, count - 1), point, places: placesIn(point.keys)}];
	});
	const series = (used: (each: (typeof inSteps)[number]) => Used | undefined): UsageSeries => {
		const cells = Array.from({length: count}, () => ({sum: 0, points: 0, most: NaN}));
		for (const each of inSteps) {
			const [cell, value] = [cells[each.step], used(each)];
			if (cell === undefined || value === undefined) continue;
			if (!Number.isNaN(value.cpuNanocores)) {
				cell.sum += value.cpuNanocores;
				cell.points++;
			}
			if (!(value.memoryBytes <= cell.most)) cell.most = value.memoryBytes;
		}
		return {
			cpuNanocores: cells.map(({sum, points}) => (points === 0 ? null : Math.round(sum / points))),
			memoryBytes: cells.map(({most: bytes}) => (Number.isNaN(bytes) ? null : bytes)),
		};
	};
	return {
		stepMs,
		node: series(({point}) => point.node),
		containers: containers.map(({uid, container}) => {
			const key = keyOf({uid, container});
			return {uid, container, ...series(each => usedAt(each.point, each.places.get(key)))};
		}),
	};
}

function usedAt({containers}: HistoryPoint, place: number | undefined): Used | undefined {
	if (place === undefined) return undefined;
	return {cpuNanocores: containers.cpuNanocores[place] ?? NaN, memoryBytes: containers.memoryBytes[place] ?? NaN};
}
