// `/functions/NAMESPACE/NAME[/...]`: calls a function, by any method. What follows its name is the path that the function sees.

import {AppError} from '../../api/errors.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import type {Handler} from './exchange.js';
import {requireOwnRight} from './rights.js';

export const invoke: Handler = ({calls}, exchange) => {
	const {identity, params, request} = exchange;
	const {namespace = '', name = ''} = params;
	requireOwnRight(identity, 'create', 'functions/invoke');
	if (calls === undefined || !isDnsLabel(namespace) || !isDnsSubdomain(name))
		throw new AppError('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name});
	return calls.call(exchange, {namespace, name}, pathBelow(request.url ?? '/'));
};

/** `/functions/ns/name/a/b?c=d` → `/a/b?c=d`, as it was written. */
function pathBelow(url: string): string {
	const [, rest = ''] = /^\/functions\/[^/?]+\/[^/?]+(.*)$/s.exec(url) ?? [];
	return rest.startsWith('/') ? rest : `/${rest}`;
}
