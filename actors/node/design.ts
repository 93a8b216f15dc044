// A node's system as the runtime is given it. Its objects are its own cache: what it was assigned, and what it has seen.

import type {SystemDesign} from '../../system/durable-system.js';
import {assignments} from './assignment-object.js';
import {nodeBehaviors, nodeRoot} from './root.js';

const schemas: {readonly [plural: string]: number} = {[assignments]: 1, clusters: 1};

export const nodeDesign: SystemDesign = {
	behaviors: nodeBehaviors,
	root: nodeRoot.kind,
	termsOf: () => [],
	wakesOf: () => [],
	schemaVersionOf: plural => schemas[plural],
	upgrade: (_plural, _fromVersion, object) => object,
	watched: false,
	resync: false,
};
