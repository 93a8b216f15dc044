// How far a pull is, from the lines of the Engine's stream. Pure but for its own count; bounded in layers.

import {limits} from '../../../api/limits.js';
import {isObject} from '../../../api/object.js';

export type PullProgress = {
	/** Fetched so far. */
	readonly bytes: number;
	/** Of all layers; those whose size is not known yet are taken for as large as the others. Undefined: no size is known. */
	readonly totalBytes: number | undefined;
	/** A whole number that never falls. */
	readonly percent: number | undefined;
};

type Layer = {readonly bytes: number; readonly totalBytes: number | undefined};

export type Progress = {
	/** Takes one line of the stream, whatever it is. */
	readonly take: (line: unknown) => void;
	readonly now: () => PullProgress;
};

export function createProgress(): Progress {
	const layers = new Map<string, Layer>();
	let highest = 0;
	return {
		take(line) {
			const {id, status, progressDetail} = isObject(line) ? line : {};
			if (typeof id !== 'string' || typeof status !== 'string') return;
			const before = layers.get(id);
			if (before === undefined && layers.size >= limits.imageLayers) return;
			const after = layerOf(before, status, isObject(progressDetail) ? progressDetail : {});
			if (after !== undefined) layers.set(id, after);
		},
		now() {
			const progress = sumOf([...layers.values()]);
			highest = Math.max(highest, progress.percent ?? 0);
			return progress.percent === undefined ? progress : {...progress, percent: highest};
		},
	};
}

/** Undefined: the line says nothing of bytes. */
function layerOf(before: Layer | undefined, status: string, {current, total}: {current?: unknown; total?: unknown}): Layer | undefined {
	switch (status) {
		case 'Pulling fs layer':
		case 'Waiting':
			return before ?? {bytes: 0, totalBytes: undefined};
		case 'Downloading': {
			const totalBytes = isAmount(total) && total > 0 ? total : before?.totalBytes;
			const bytes = isAmount(current) ? current : (before?.bytes ?? 0);
			return {bytes: Math.min(bytes, totalBytes ?? bytes), totalBytes};
		}
		case 'Verifying Checksum':
		case 'Download complete':
		case 'Extracting':
		case 'Pull complete':
			return before === undefined ? undefined : fetched(before);
		// It is there: nothing of it is fetched.
		case 'Already exists':
			return before === undefined ? undefined : {bytes: 0, totalBytes: 0};
		default:
			return undefined;
	}
}

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** A small layer may be there before a size was told. */
const fetched = ({bytes, totalBytes = bytes}: Layer): Layer => ({bytes: totalBytes, totalBytes});

function sumOf(layers: readonly Layer[]): PullProgress {
	const known = layers.flatMap(({totalBytes}) => totalBytes ?? []);
	const bytes = layers.reduce((sum, layer) => sum + layer.bytes, 0);
	const knownBytes = known.reduce((sum, each) => sum + each, 0);
	if (knownBytes === 0) return {bytes, totalBytes: undefined, percent: undefined};
	const totalBytes = Math.round((knownBytes * layers.length) / known.length);
	return {bytes, totalBytes, percent: Math.floor((100 * bytes) / totalBytes)};
}
