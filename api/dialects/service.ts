// Services and host names of the older dialect: ports may be texts, protocols small.

import type {Json, JsonObject} from '../object.js';
import {capitals, ifObject, mapItems, mapMember, numberOf, protocols, type Edits} from './rewrite.js';

export const editService = (document: JsonObject, edits: Edits): JsonObject =>
	mapList(document, 'ports', (port, path) => {
		let edited = port;
		for (const field of ['port', 'targetPort', 'nodePort'])
			edited = mapMember(edited, field, path, (value, at) => numberOf(value, at, edits));
		return mapMember(edited, 'protocol', path, (value, at) => capitals(value, at, protocols, edits));
	});

export const editDns = (document: JsonObject, edits: Edits): JsonObject =>
	mapList(document, 'paths', (item, path) => mapMember(item, 'svcPort', path, (value, at) => numberOf(value, at, edits)));

/** Puts each item of a list of the spec through a function. */
const mapList = (document: JsonObject, list: string, edit: (item: JsonObject, path: string) => Json): JsonObject =>
	mapMember(document, 'spec', '', (spec, path) =>
		ifObject(spec, object => mapMember(object, list, path, (items, at) => mapItems(items, at, edit))),
	);
