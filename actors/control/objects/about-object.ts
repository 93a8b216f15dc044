// How errors name an object.

import {qualifiedPlural} from '../../../api/catalogue.js';
import type {KindDefinition} from '../../../api/kind.js';
import type {JsonObject} from '../../../api/object.js';

/** The details that every error about one object carries. */
export const aboutObject = (definition: KindDefinition, name: string): JsonObject => ({
	resource: qualifiedPlural(definition),
	name,
	group: definition.group,
	kind: definition.plural,
});
