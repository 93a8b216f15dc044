// What nodes tell of what they and their containers use, asked by the server itself.

import {usagePath} from '../../actors/addresses.js';
import {usageIn, type NodeUsage, type ReadUsage} from '../../actors/protocol/usage-message.js';
import {address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Backend} from './exchange.js';

/** Of a node, and of these of its pods; undefined: it did not answer in time, or with nothing that can be read. */
export async function usageOfNode(
	{control}: Backend,
	{
		node,
		uids,
		steps,
		cause,
	}: {readonly node: string; readonly uids: readonly string[]; readonly steps?: number | undefined; readonly cause: string},
): Promise<NodeUsage | undefined> {
	const message: ReadUsage = {type: 'readUsage', uids, ...(steps === undefined ? {} : {steps})};
	const outcome = await control.ask<unknown>(address(node, usagePath), message, {deadlineMs: limits.usageAnswerMs, cause});
	return outcome.ok ? usageIn(outcome.value, new Set(uids), steps !== undefined) : undefined;
}
