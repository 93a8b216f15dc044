// `/troupe/v1/nodes/NODE/functions/NAMESPACE/NAME/...`: a call that has come to the router of that node, by a route to the function.
//
// What it keeps true: a node calls what a Dns of that namespace leads to, now, and no other function; nothing of such a call is kept for later, since
// whoever reaches the router may make it.

import {AppError} from '../../api/errors.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {routedFunctionTerm} from '../../actors/network-references.js';
import type {Handler} from './exchange.js';

export const invokeRouted: Handler = ({calls, control}, exchange) => {
	const {identity, params, request} = exchange;
	const {node = '', namespace = '', name = ''} = params;
	const forbidden = (why: string): AppError =>
		new AppError('ERR_FORBIDDEN', {message: `User "${identity.name}" cannot call functions for the router of node "${node}"${why}`});
	if (identity.role !== 'node' || identity.node !== node) throw forbidden('');
	if (calls === undefined || !isDnsLabel(namespace) || !isDnsSubdomain(name))
		throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
	if (control.index.countByTerm('dnses', routedFunctionTerm(namespace, name)) === 0)
		throw forbidden(`: no Dns leads to function "${namespace}/${name}"`);
	return calls.callRouted(exchange, {namespace, name}, pathBelow(request.url ?? '/'));
};

/** `/troupe/v1/nodes/n/functions/ns/name/a/b?c=d` → `/a/b?c=d`, as it was written. */
const pathBelow = (url: string): string => /^(?:\/[^/?]+){7}(\/.*)$/s.exec(url)?.[1] ?? '/';
