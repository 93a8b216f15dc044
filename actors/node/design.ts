// A node's system as the runtime is given it. Its objects are its own cache: what it was assigned, what that names, and what it has seen.

import {address} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {SystemDesign, Wake} from '../../system/commit/durable-system.js';
import type {Change, Known} from '../../system/index/object-index.js';
import {handName, podsPath} from '../addresses.js';
import {configPlurals, isConfigKey, configKeysOf, configTerm} from '../config-references.js';
import {assignments, type AssignmentObject} from './cache/assignment-object.js';
import {networkPlurals} from '../network-references.js';
import type {ConfigChanged} from './containers/container-state.js';
import {nodeBehaviors, nodeRoot} from './root.js';

const schemas: {readonly [plural: string]: number} = {
	[assignments]: 1,
	...Object.fromEntries([...configPlurals, ...networkPlurals].map(plural => [plural, 1])),
	clusters: 1,
};

export const nodeDesign: SystemDesign = {
	behaviors: nodeBehaviors,
	root: nodeRoot.kind,
	termsOf,
	wakesOf,
	schemaVersionOf: plural => schemas[plural],
	upgrade: (_plural, _fromVersion, object) => object,
	watched: false,
	resync: false,
};

function termsOf(plural: string, object: ApiObject): readonly string[] {
	const assignment = plural === assignments ? (object as AssignmentObject).spec?.assignment : undefined;
	return assignment === undefined ? [] : configKeysOf(assignment.spec, assignment.namespace).map(configTerm);
}

/** Hands whose pods name a ConfigMap or Secret look again when it changes. */
function* wakesOf({key}: Change, known: Known): Iterable<Wake> {
	if (!isConfigKey(key)) return;
	const message: ConfigChanged = {type: 'configChanged'};
	for (const object of known.byTerm(assignments, configTerm(key))) {
		const assignment = (object as AssignmentObject).spec?.assignment;
		if (assignment === undefined) continue;
		yield {to: address(assignment.nodeName, `${podsPath}/${handName(assignment)}`), message};
	}
}
