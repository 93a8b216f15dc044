// From a target of a URL to the committed object.

import {qualifiedPlural} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {objectKey} from '../../api/keys.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import type {Entry} from '../../system/index/object-index.js';
import type {Backend, Target} from './exchange.js';

/** The entry of a target; `ERR_NOT_FOUND` where there is none, also for names that no object can have. */
export function entryOf({control}: Backend, {kind, namespace, name = ''}: Target): Entry {
	// Nothing else is ever stored, and nothing else may enter a key or an address.
	const isName = isDnsSubdomain(name) && (namespace === undefined || isDnsLabel(namespace));
	const entry = isName ? control.index.entry(objectKey(kind.plural, namespace, name)) : undefined;
	if (entry === undefined) throw new AppError('ERR_NOT_FOUND', {resource: qualifiedPlural(kind), name});
	return entry;
}
