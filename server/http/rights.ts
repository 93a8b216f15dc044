// Who may do what, in HTTP's words. The roles themselves are in `api/roles.ts`.

import {qualifiedPlural} from '../../api/catalogue.js';
import {AppError} from '../../api/errors.js';
import {mayRequest, type Identity} from '../../api/roles.js';
import type {Target} from './exchange.js';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** Throws `ERR_FORBIDDEN`, worded as Kubernetes words it, when the identity may not do this to the target. */
export function requireRight(identity: Identity, verb: Verb, target: Target): void {
	const resource = target.subresource === undefined ? target.kind.plural : `${target.kind.plural}/${target.subresource}`;
	if (mayRequest(identity, verb, resource)) return;
	const plural = qualifiedPlural(target.kind);
	const subject = target.name === undefined ? plural : `${plural} "${target.name}"`;
	const scope = target.namespace === undefined ? 'at the cluster scope' : `in the namespace "${target.namespace}"`;
	throw new AppError('ERR_FORBIDDEN', {
		message: `${subject} is forbidden: User "${identity.name}" cannot ${verb} resource "${resource}" in API group "${target.kind.group}" ${scope}`,
	});
}

/** The same for our own routes, whose resources are no objects. */
export function requireOwnRight(identity: Identity, verb: Verb, resource: string): void {
	if (mayRequest(identity, verb, resource)) return;
	throw new AppError('ERR_FORBIDDEN', {message: `User "${identity.name}" cannot ${verb} "${resource}"`});
}
