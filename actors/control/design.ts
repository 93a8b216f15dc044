// The control system as the runtime is given it: behaviours, index terms, wakes and schemas of all kinds.

import {kindByPlural} from '../../api/catalogue.js';
import {objectAddress} from '../../api/keys.js';
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
	upgrade: (_plural, _fromVersion, object) => object,
	collectionOf,
	recordOf: objectAddress,
	watched: true,
	resync: true,
};

/** Undefined: there is no such kind. */
function schemaVersionOf(plural: string): number | undefined {
	const kind = kindByPlural(plural);
	return kind === undefined ? undefined : (kind.schemaVersion ?? 1);
}
