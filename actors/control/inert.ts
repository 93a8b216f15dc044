// Kinds that nothing acts on yet: their objects are kept, owned, collected and deleted like all others, and that is all.

import {kinds} from '../../api/catalogue.js';
import {controller, type Controller} from './objects/controller.js';

/** A controller without work for each of them, until it gets its own. */
export const inertControllers: readonly Controller[] = kinds
	.filter(({isInert}) => isInert === true)
	.map(({plural}) => controller({plural, reconcile: () => ({effects: []})}));
