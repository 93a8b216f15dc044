// `POST /troupe/v1/nodes/<name>/confirm-lost`: a person says that a silent node is lost, and its pods are replaced although too many
// others are silent too. The answer is the node as committed.

import {AppError} from '../../api/errors.js';
import {nodeKey, detectorAddress} from '../../actors/addresses.js';
import type {ConfirmLost} from '../../actors/control/nodes/detector.js';
import {limits} from '../../api/limits.js';
import type {ApiObject} from '../../api/object.js';
import type {Handler} from './exchange.js';
import {valueOf} from './outcome.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';

export const confirmLost: Handler = async ({control}, {identity, method, params, response}) => {
	requireOwnRight(identity, 'update', 'troupe/nodes');
	const {name: node = ''} = params;
	if (control.index.entry(nodeKey(node)) === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'nodes', name: node});
	const message: ConfirmLost = {type: 'confirmLost', node};
	const cause = `http ${identity.name} ${method} ${nodeKey(node)}/confirm-lost`;
	const outcome = await control.ask<ApiObject>(detectorAddress, message, {deadlineMs: limits.askDeadlineMs, cause});
	if (!outcome.ok && outcome.error.code === 'ERR_NO_SUCH_ACTOR')
		throw new AppError('ERR_NOT_REACHABLE', {message: 'nobody judges nodes now: the control plane is starting or stopping'});
	sendJson(response, 200, valueOf(outcome));
};
