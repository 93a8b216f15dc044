// From a target of a URL to the committed object.

import {resourceOf} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {clusterScope, objectKey} from '../../api/keys.js';
import type {Entry} from '../../system/object-index.js';
import type {Backend, Target} from './exchange.js';

/** DNS labels and subdomains (RFC 1123). Nothing else is ever stored, and nothing else may enter a key or an address. */
const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export const isNamespaceName = (text: string): boolean => label.test(text) && text !== clusterScope;
export const isObjectName = (text: string): boolean => subdomain.test(text);

/** The entry of a target; `ERR_NOT_FOUND` where there is none, also for names that no object can have. */
export function entryOf({control}: Backend, {kind, namespace, name = ''}: Target): Entry {
	const isName = isObjectName(name) && (namespace === undefined || isNamespaceName(namespace));
	const entry = isName ? control.index.entry(objectKey(kind.plural, namespace, name)) : undefined;
	if (entry === undefined) throw new AppError('ERR_NOT_FOUND', {resource: resourceOf(kind), name});
	return entry;
}
