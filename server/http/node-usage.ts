// What nodes tell of what they and their containers use, asked by the server itself.

import {usagePath} from '../../actors/addresses.js';
import {usageIn, type NodeUsage, type ReadUsage} from '../../actors/protocol/usage-message.js';
import {address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {ControlPlane} from '../control-plane.js';

type UsageQuestion = {
	readonly node: string;
	readonly uids: readonly string[];
	/** Of the last minutes; undefined: they are not asked for. */
	readonly steps?: number | undefined;
	readonly cause: string;
	readonly deadlineMs?: number;
};

/** Of a node, and of these of its pods; undefined: it did not answer in time, or with nothing that can be read. */
export async function usageOfNode(
	{control}: {readonly control: ControlPlane},
	{node, uids, steps, cause, deadlineMs = limits.usageAnswerMs}: UsageQuestion,
): Promise<NodeUsage | undefined> {
	const message: ReadUsage = {type: 'readUsage', uids, ...(steps === undefined ? {} : {steps})};
	const outcome = await control.ask<unknown>(address(node, usagePath), message, {deadlineMs, cause});
	return outcome.ok ? usageIn(outcome.value, new Set(uids), steps !== undefined) : undefined;
}
