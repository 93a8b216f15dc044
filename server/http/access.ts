// Who may come in, as people and hosts change it: tokens, and how an agent becomes a node.

import {tokenRoles, type JoinAnswer, type TokenAnswer, type TokenRow} from '../../api/join.js';
import {AppError} from '../../api/errors.js';
import {controlSystem, objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {joinResource, tokensResource} from '../../api/roles.js';
import {isDnsSubdomain} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import {readTopicRights} from '../../api/topic-rights.js';
import type {Access} from '../access.js';
import {pinOf} from '../certificates.js';
import {issueJoinToken, named, type NamedToken, type TokenInfo} from '../tokens.js';
import {readObject} from './body.js';
import type {Backend, Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';

/** `GET /troupe/v1/tokens`. */
export const listTokens: Handler = (backend, {identity, response}) => {
	requireOwnRight(identity, 'list', tokensResource);
	sendJson(response, 200, {tokens: accessOf(backend).tokens.list().map(rowOf)});
};

/** `POST /troupe/v1/tokens`: {name, role, ttlSeconds?, topics?} or {join: true, ttlSeconds?}; the answer is the only time it is seen. */
export const createToken: Handler = async (backend, exchange) => {
	requireOwnRight(exchange.identity, 'create', tokensResource);
	const body = (await readObject(exchange.request)) ?? {};
	const made = body['join'] === true ? await makeJoinToken(backend, body) : await makeToken(backend, body);
	const answer: TokenAnswer = {...rowOf(made), token: made.token};
	sendJson(exchange.response, 201, answer);
};

/**
 * `DELETE /troupe/v1/tokens/<name>`: its connections, watches and logs end, and it is not let in again. Of the login that asks only
 * with `?own=true`.
 */
export const deleteToken: Handler = async (backend, {identity, response, params, query}) => {
	requireOwnRight(identity, 'delete', tokensResource);
	const {tokens, cut} = accessOf(backend);
	const {name = ''} = params;
	if (name === identity.name && query.get('own') !== 'true')
		throw refusal(`"${name}" is the login that asks, and without it nothing more can be asked; --yes says that it is meant`);
	if (!(await tokens.revoke(name))) throw new AppError('ERR_NOT_FOUND', {resource: 'tokens', name});
	cut(name);
	backend.streams.endOf(name);
	sendJson(response, 200, {name});
};

/** `POST /troupe/v1/join`: {node} → the node's own credential. */
export const join: Handler = async (backend, exchange) => {
	requireOwnRight(exchange.identity, 'create', joinResource);
	const {tokens, ca, servers, broker, isOwnNode} = accessOf(backend);
	const node = (await readObject(exchange.request))?.['node'];
	if (typeof node !== 'string' || !isDnsSubdomain(node) || node === controlSystem)
		throw refusal(`node must be a DNS name, and not "${controlSystem}"; got ${shown(node)}`);
	if (isOwnNode(node)) throw taken(node, 'the control plane runs a node of that name itself; --node gives this one another');
	const credential = await tokens.issue(node, 'node', {isNew: true}).catch((error: unknown) => {
		if (error instanceof AppError && error.code === 'ERR_ALREADY_EXISTS') throw taken(node, whyTaken(node, tokens.isNode(node)));
		throw error;
	});
	const answer: JoinAnswer = {node, credential, ca, servers: servers(), ...(broker === undefined ? {} : {broker: broker.url})};
	sendJson(exchange.response, 201, answer);
};

const whyTaken = (node: string, isNode: boolean): string =>
	isNode
		? `it has a credential already; --node gives this host another name, or, if the host that had it is lost, "troupe token delete ${node}" makes the name free`
		: 'it is the name of a login that is no node; --node gives this host another name';

async function makeJoinToken(backend: Backend, body: JsonObject): Promise<NamedToken> {
	const {tokens, ca} = accessOf(backend);
	if (body['topics'] !== undefined) throw refusal('topics belong to a token with a name and a role');
	return issueJoinToken(tokens, pinOf(ca), ttlMsOf(body) ?? limits.joinTokenMs);
}

async function makeToken(backend: Backend, body: JsonObject): Promise<NamedToken> {
	const {tokens} = accessOf(backend);
	const {name} = body;
	const role = tokenRoles.find(each => each === body['role']);
	if (typeof name !== 'string') throw refusal(`name must be a text, got ${shown(name)}`);
	if (role === undefined) throw refusal(`role must be ${tokenRoles.join(', ')}, got ${shown(body['role'])}`);
	// A login is one name, a node's or a person's.
	if (backend.control.index.entry(objectKey('nodes', undefined, name)) !== undefined)
		throw taken(name, 'a token cannot be called like a node');
	const topics = readTopicRights(body['topics']);
	if (!topics.ok) throw refusal(topics.message);
	if (role === 'metrics' && topics.value !== undefined) throw refusal('a login of the role metrics has no topics: it reads /metrics alone');
	const token = await tokens.issue(name, role, {isNew: true, ttlMs: ttlMsOf(body), topics: topics.value});
	return named(tokens, name, token);
}

function ttlMsOf({ttlSeconds}: JsonObject): number | undefined {
	if (ttlSeconds === undefined || ttlSeconds === null) return undefined;
	const ttlMs = Number(ttlSeconds) * 1_000;
	if (typeof ttlSeconds === 'number' && ttlMs >= 1_000 && ttlMs <= limits.tokenTtlMaxMs) return ttlMs;
	throw refusal(`ttlSeconds must be a number from 1 to ${limits.tokenTtlMaxMs / 1_000}, got ${shown(ttlSeconds)}`);
}

const taken = (name: string, message: string): AppError => new AppError('ERR_CONFLICT', {resource: 'nodes', name, message});

const rowOf = ({name, role, createdAtMs, expiresAtMs, topics}: TokenInfo): TokenRow => ({
	name,
	role,
	createdAtMs,
	...(expiresAtMs === undefined ? {} : {expiresAtMs}),
	...(topics === undefined ? {} : {topics}),
});

/** Of the term that is on. */
export function accessOf({access}: Backend): Access {
	if (access === undefined) throw new AppError('ERR_NO_SUCH_PATH');
	return access;
}
