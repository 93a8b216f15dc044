// What is known of a way: it grows step by step, and each step is judged before the next.

import type {EndpointSlice} from '../../api/kinds/endpointslice.js';
import type {NetworkPolicy} from '../../api/kinds/networkpolicy.js';
import type {NodeObject} from '../../api/kinds/node.js';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import type {WayAnswer, WayTried} from '../../api/way-check.js';
import type {FromPlace, ToPlace} from './places.js';

/** Where a connection is tried. */
export type EndPoint = {
	readonly address: string;
	readonly port: number;
	/** Undefined: no pod is behind it. */
	readonly pod: {readonly namespace: string; readonly name: string} | undefined;
	/** Undefined: it is not known. */
	readonly node: string | undefined;
};

export type RouteFound = {
	readonly kind: 'Dns' | 'Ingress';
	readonly namespace: string;
	readonly name: string;
	readonly backends: readonly RouteBackend[];
};

export type RouteBackend =
	| {readonly namespace: string; readonly service: string; readonly port: number | string | undefined}
	| {readonly namespace: string; readonly function: string};

/** `hint`: of what is not there, which one may have been meant. */
export type Target =
	| {
			readonly kind: 'service';
			readonly namespace: string;
			readonly name: string;
			/** A number or a name; undefined: the only one, or the first. */
			readonly port: number | string | undefined;
			/** Undefined: it is not there. */
			readonly service: Service | undefined;
			readonly hint: string;
			readonly slices: readonly EndpointSlice[];
			/** Those of its selector. */
			readonly pods: readonly Pod[];
	  }
	| {
			readonly kind: 'pod';
			readonly namespace: string;
			readonly name: string;
			readonly port: number | string | undefined;
			readonly pod: Pod | undefined;
			readonly hint: string;
	  }
	| {readonly kind: 'address'; readonly address: string; readonly port: number};

/** What a node answered, or why it did not. */
export type Asked = {readonly answer: WayAnswer} | {readonly problem: string; readonly todo: string};

export type Facts = {
	readonly from: FromPlace;
	readonly to: ToPlace;
	readonly origin?: {
		/** Undefined: it is not there, or FROM is a node. */
		readonly pod: Pod | undefined;
		/** Undefined: it is not there. */
		readonly node: NodeObject | undefined;
		readonly hint: string;
	};
	/** Null: there is none. */
	readonly route?: {readonly found: RouteFound | null; readonly hint: string};
	readonly target?: Target;
	/** All that there are, by name. */
	readonly nodes?: ReadonlyMap<string, NodeObject>;
	/** What the node of FROM knows, and whether a name resolves: the first that was tried. */
	readonly look?: Asked;
	/** In the order of `endPointsOf`, then of the Service's address, or of the route. */
	readonly tries?: Asked;
	/** Of the namespaces of FROM and TO; where a connection was refused as policies refuse it. */
	readonly policies?: readonly NetworkPolicy[];
	/** What pods of endpoints that did not answer say of themselves; null: it could not be tried. By `placeKey`. */
	readonly home?: ReadonlyMap<string, WayTried | null>;
};

export const placeKey = ({address, port}: Pick<EndPoint, 'address' | 'port'>): string => `${address}:${port}`;
