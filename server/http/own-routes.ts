// What Troupe answers beyond Kubernetes: counters, limits, and dialects.

import {normalise} from '../../api/dialects/normalise.js';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {readObject} from './body.js';
import type {Handler} from './exchange.js';
import {refusal} from './outcome.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';

/** `POST /troupe/v1/normalise`: one document of any dialect → {object, notes, renamed}; nothing is kept. */
export const normaliseDocument: Handler = async (_backend, exchange) => {
	requireOwnRight(exchange.identity, 'get', 'troupe/normalise');
	const document = await readObject(exchange.request, {yaml: true});
	if (document === undefined) throw refusal('the body is empty; it must be a manifest');
	const result = normalise(document);
	if (!result.ok) throw new AppError('ERR_INVALID', {problems: result.problems});
	const {object, notes, renamed} = result;
	sendJson(exchange.response, 200, {object, notes, renamed});
};

/** `GET /troupe/v1/counters`. */
export const counters: Handler = ({control}, {identity, response}) => {
	requireOwnRight(identity, 'get', 'troupe/counters');
	sendJson(response, 200, control.counters());
};

/**
 * `GET /troupe/v1/mqtt`: what a program with this token needs to speak MQTT: its login, its role, and where the broker is when that is another
 * program; else it is at this very port, by ALPN.
 */
export const mqtt: Handler = ({access}, {identity, response}) => {
	requireOwnRight(identity, 'get', 'troupe/mqtt');
	const {name: login, role} = identity;
	sendJson(response, 200, {login, role, broker: access?.broker?.url ?? null});
};

/** `GET /troupe/v1/limits`: every bound there is, by name. */
export const limitsInfo: Handler = (_backend, {identity, response}) => {
	requireOwnRight(identity, 'get', 'troupe/limits');
	sendJson(response, 200, limits);
};
