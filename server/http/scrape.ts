// GET of `/metrics` and what is below it: figures for Prometheus, and what it is to scrape. Made when it is asked for.

import type {TLSSocket} from 'node:tls';
import {AppError} from '../../api/errors.js';
import {metricsType} from '../../api/metrics.js';
import {metricsResource, mayRequest, type Identity} from '../../api/roles.js';
import {nodeTargets, podTargets} from '../metrics/targets.js';
import type {Backend, Exchange, Handler} from './exchange.js';
import {sendJson, sendText} from './reply.js';
import {requireOwnRight} from './rights.js';

/** Of this server. */
export const scrapeServer: Handler = async ({scrapes}, {identity, response}) => {
	requireOwnRight(identity, 'get', metricsResource);
	if (scrapes === undefined) throw new AppError('ERR_NO_SUCH_PATH');
	sendText(response, 200, metricsType, await scrapes.ofServer());
};

/** Of a node, by what it tells this server. */
export const scrapeNode: Handler = async ({scrapes}, {identity, params, response}) => {
	requireOwnRight(identity, 'get', metricsResource);
	const {name = ''} = params;
	const text = scrapes?.ofNode(name);
	if (text === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'nodes', name});
	sendText(response, 200, metricsType, await text);
};

export function listNodeTargets({control}: Backend, {identity, request, response}: Exchange): void {
	requireOwnRight(identity, 'get', metricsResource);
	const isTls = (request.socket as Partial<TLSSocket>).encrypted === true;
	sendJson(response, 200, nodeTargets(control.index, request.headers.host ?? '', isTls ? 'https' : 'http'));
}

export function listPodTargets({control}: Backend, {identity, response}: Exchange): void {
	requireOwnRight(identity, 'get', metricsResource);
	sendJson(response, 200, podTargets(control.index));
}

/** Whether one that was let in by a server which does not lead may read that server's own figures. */
export const mayScrape = (identity: Identity): boolean => mayRequest(identity, 'get', metricsResource);
