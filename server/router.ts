// Paths to handlers. Says also which methods a path has, so that a wrong method is told from a wrong path.

import findMyWay from 'find-my-way';
import {limits} from '../api/limits.js';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

export type Params = Readonly<Record<string, string | undefined>>;

export type RouteMatch<Handler> =
	| {readonly type: 'found'; readonly handler: Handler; readonly params: Params}
	| {readonly type: 'otherMethod'; readonly allowed: readonly Method[]}
	| {readonly type: 'none'};

export type Router<Handler> = {
	/** `:name` in a path is one segment, decoded; `*` at its end is the rest. A second handler for a method and path is a bug. */
	readonly on: (method: Method, path: string, handler: Handler) => void;
	/** Never throws: a path that cannot be decoded has no handler. */
	readonly find: (method: string, path: string) => RouteMatch<Handler>;
};

/** An empty router. */
export function createRouter<Handler>(): Router<Handler> {
	const tree = findMyWay({maxParamLength: limits.pathSegmentCharacters, caseSensitive: true, querystringParser: () => ({})});
	const look = (method: Method, path: string) => tree.find(method, path);
	return {
		on(method, path, handler) {
			// The handler travels as the route's store: nothing is ever called by the library.
			tree.on(method, path, () => undefined, {handler});
		},
		find(method, path) {
			const known = methods.find(each => each === method);
			const found = known === undefined ? null : look(known, path);
			if (found !== null) return {type: 'found', handler: (found.store as {handler: Handler}).handler, params: found.params};
			const allowed = methods.filter(each => look(each, path) !== null);
			return allowed.length === 0 ? {type: 'none'} : {type: 'otherMethod', allowed};
		},
	};
}
