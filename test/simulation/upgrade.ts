// Control's code one schemaVersion ahead: what it finds of the older version it upgrades, once.

import type {SystemDesign} from '../../system/commit/durable-system.js';
import {upgradeMark} from './invariants.js';

export const newerDesign = (design: SystemDesign): SystemDesign => ({
	...design,
	schemaVersionOf: plural => {
		const version = design.schemaVersionOf(plural);
		return version === undefined ? undefined : version + 1;
	},
	upgrade(plural, _fromVersion, object) {
		const {metadata} = object;
		// A pod's annotations are part of what its node was given.
		if (plural === 'pods') return object;
		const upgrades = Number(metadata.annotations?.[upgradeMark] ?? '0') + 1;
		return {...object, metadata: {...metadata, annotations: {...metadata.annotations, [upgradeMark]: String(upgrades)}}};
	},
});
