// An object as public places show it: topics above all. What its kind withholds is not in it; of all other kinds it is the text of
// the commit, made once.

import {kindByPlural} from '../api/catalogue.js';
import {parseObjectKey} from '../api/keys.js';
import type {ApiObject} from '../api/object.js';
import type {Entry} from '../system/index/object-index.js';

/** The object without what only some may read. */
export const publicObject = (plural: string, object: ApiObject): ApiObject => kindByPlural(plural)?.withheld?.(object) ?? object;

export function publicText({key, object, json}: Entry): string {
	const shown = publicObject(parseObjectKey(key).plural, object);
	return shown === object ? json() : JSON.stringify(shown);
}
