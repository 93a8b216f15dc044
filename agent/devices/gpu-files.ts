// The device files of GPUs, as NVIDIA's driver names them: `/dev/nvidia0`, a number each.

import {opendirSync} from 'node:fs';
import path from 'node:path';
import {valueOr} from '../../api/value-or.js';
import {limits} from '../../api/limits.js';
import type {Device} from '../../actors/node/runtime/runtime-port.js';

/** By number, at most `nodeGpus`; none where there is no such folder. */
export function gpuFilesIn(folder: string): readonly Device[] {
	const indexes = valueOr([], () => indexesIn(folder));
	return [...indexes]
		.sort((a, b) => a - b)
		.slice(0, limits.nodeGpus)
		.map(index => ({file: path.join(folder, `nvidia${index}`), index}));
}

function indexesIn(folder: string): readonly number[] {
	const open = opendirSync(folder);
	const indexes: number[] = [];
	try {
		for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
			const [, index] = /^nvidia(\d{1,4})$/.exec(entry.name) ?? [];
			if (index !== undefined && entry.isCharacterDevice()) indexes.push(Number(index));
		}
	} finally {
		open.closeSync();
	}
	return indexes;
}
