// How errors name an object.

import type {JsonObject} from '../../api/object.js';
import type {KindDefinition} from '../../api/kind.js';

/** `pods`, `replicasets.apps`. */
export const resourceName = ({plural, group}: KindDefinition): string => (group === '' ? plural : `${plural}.${group}`);

/** The details that every error about one object carries. */
export const aboutObject = (definition: KindDefinition, name: string): JsonObject => ({
	resource: resourceName(definition),
	name,
	group: definition.group,
	kind: definition.plural,
});
