// The control system as the runtime is given it: behaviours, index terms, wakes and schemas of all kinds.

import {kindByPlural} from '../../api/catalogue.js';
import {objectAddress} from '../../api/keys.js';
import {ofFirstVersion, workflow} from '../../api/kinds/workflow.js';
import type {ApiObject} from '../../api/object.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';
import {controlBehaviors, termsOf} from './kinds.js';
import {controlRoot} from './root.js';
import {collectionOf, wakesOf} from './wakes.js';

export const controlDesign: SystemDesign = {
	behaviors: controlBehaviors,
	root: controlRoot.kind,
	termsOf,
	wakesOf,
	schemaVersionOf,
	upgrade,
	collectionOf,
	recordOf: objectAddress,
	watched: true,
	resync: true,
};

/** An object as its kind is stored today. */
function upgrade(plural: string, fromVersion: number, object: ApiObject): ApiObject {
	return plural === workflow.plural && fromVersion < 2 ? ofFirstVersion(object) : object;
}

/** Undefined: there is no such kind. */
function schemaVersionOf(plural: string): number | undefined {
	const kind = kindByPlural(plural);
	return kind === undefined ? undefined : (kind.schemaVersion ?? 1);
}
