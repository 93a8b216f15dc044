// What is asked of a node about the way from one of its pods, or from itself, to somewhere else, and what it answers: `troupe net check`.
//
// What it keeps true: of a question only names, addresses, ports and paths of these forms get to a node, and never more than a few.

import {failed, succeeded, type Outcome} from './errors.js';
import {limits} from './limits.js';
import {isObject} from './object.js';
import {isIPv4} from './rules/address.js';
import {shown} from './shown.js';

/** What is tried from there. */
export type WayTry =
	/** Whom programs there ask for names is asked for this one. */
	| {readonly type: 'name'; readonly name: string}
	| {readonly type: 'tcp'; readonly address: string; readonly port: number}
	/** The router of the node is asked for it by a GET. */
	| {readonly type: 'route'; readonly host: string; readonly path: string};

/** `byRouter`: a route leads to it, for which no traffic policy holds. */
export type WayService = {readonly namespace: string; readonly name: string; readonly byRouter?: true};

export type WayQuestion = {
	/** Undefined: of no Service. */
	readonly service?: WayService | undefined;
	readonly tries: readonly WayTry[];
};

/** `uid`: of a pod of that node; undefined: the node itself. */
export type WayRequest = WayQuestion & {readonly uid?: string | undefined};

export type WayTried =
	| {
			readonly ok: true;
			/** Of a name. */
			readonly addresses?: readonly string[] | undefined;
			/** Of a route. */
			readonly status?: number | undefined;
			/** How the router's own page begins; undefined: a service has answered. */
			readonly page?: string | undefined;
	  }
	/** `code` as Node.js has it; `ETIMEDOUT` where nothing came in time, `ENOTHERE` where the node has nobody to ask. */
	| {readonly ok: false; readonly code: string};

export type WayPlace = {readonly address: string; readonly port: number};

/** A port of a Service as the node has it. */
export type WayPort = {
	readonly port: number;
	readonly protocol: string;
	/** To which the node leads. */
	readonly endpoints: readonly WayPlace[];
	readonly leftOut: readonly {readonly address: string; readonly target?: string | undefined; readonly reason: string}[];
};

export type WayAnswer = {
	/** From where was tried: out of the pod's own network, or out of the node's. */
	readonly from: 'pod' | 'node';
	/** What leads from the address of a Service to its endpoints. */
	readonly services: 'proxy' | 'nftables';
	/** What leads to pods of other nodes; undefined: nothing. */
	readonly overlay?: string | undefined;
	/** Of the data plane; undefined: none serves. */
	readonly pid?: number | undefined;
	/** What the node cannot do of its network. */
	readonly problems: readonly string[];
	/** `HOST:PORT` of whom programs there ask; undefined: the node has none. */
	readonly resolver?: string | undefined;
	readonly router?: string | undefined;
	/** Undefined: the node knows of no such Service, or was asked for none. */
	readonly service?: {readonly ports: readonly WayPort[]} | undefined;
	/** One for each that was asked, in that order. */
	readonly tried: readonly WayTried[];
};

const hostForm = /^[A-Za-z0-9._-]{1,253}$/;
const pathForm = /^\/[\x21-\x7e]*$/;

export const isWayHost = (text: string): boolean => hostForm.test(text);
export const isWayPath = (text: string): boolean => pathForm.test(text) && text.length <= limits.wayPathCharacters;
export const isWayPort = (port: unknown): port is number =>
	typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;

/** What a client asks, or `ERR_BAD_REQUEST` with what of it is wrong. */
export function wayQuestionOf(body: unknown): Outcome<WayQuestion> {
	const {service, tries = []} = isObject(body) ? body : {};
	const wrong = (message: string): Outcome<WayQuestion> => failed('ERR_BAD_REQUEST', {message});
	if (!Array.isArray(tries) || tries.length > limits.wayTries) return wrong(`tries must be a list of at most ${limits.wayTries}`);
	const read: WayTry[] = [];
	for (const each of tries) {
		const found = tryOf(each);
		if (found === undefined) return wrong(`one of tries is neither a name, nor an address and a port, nor a route: ${shown(each)}`);
		read.push(found);
	}
	if (service === undefined) return succeeded({tries: read});
	const {namespace, name, byRouter} = isObject(service) ? service : {};
	if (!isHost(namespace) || !isHost(name)) return wrong('service must have a namespace and a name');
	return succeeded({service: {namespace, name, ...(byRouter === true ? {byRouter} : {})}, tries: read});
}

const isHost = (value: unknown): value is string => typeof value === 'string' && isWayHost(value);

function tryOf(value: unknown): WayTry | undefined {
	if (!isObject(value)) return undefined;
	const {type, name, address, port, host, path} = value;
	if (type === 'name' && isHost(name)) return {type, name};
	if (type === 'tcp' && typeof address === 'string' && isIPv4(address) && isWayPort(port)) return {type, address, port};
	if (type === 'route' && isHost(host) && typeof path === 'string' && isWayPath(path)) return {type, host, path};
	return undefined;
}
