// A Job of the older dialect is one of an HPC system; its numbers may be texts.

import type {JsonObject} from '../object.js';
import {ifObject, mapMember, numberOf, type Edits} from './rewrite.js';

export const editSlurmJob = (document: JsonObject, edits: Edits): JsonObject =>
	mapMember(document, 'spec', '', (spec, path) =>
		ifObject(spec, object => {
			let edited = object;
			for (const field of ['nTasks', 'nTasksPerNode', 'gpuNums'])
				edited = mapMember(edited, field, path, (value, at) => numberOf(value, at, edits));
			return edited;
		}),
	);
