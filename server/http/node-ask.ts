// Questions to the runtime of a node.

import {runtimePath} from '../../actors/addresses.js';
import {failed, type ErrorCode, type Outcome} from '../../api/errors.js';
import {address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import type {Message} from '../../system/kernel/behavior.js';
import type {ControlPlane} from '../control-plane.js';

/** The node did not answer, and whether it heard is not known. */
const unheard: ReadonlySet<ErrorCode> = new Set(['ERR_NO_SUCH_ACTOR', 'ERR_TIMEOUT', 'ERR_OUTCOME_UNKNOWN', 'ERR_ACTOR_STOPPED']);

export type NodeAsk = {
	readonly node: string;
	readonly message: Message;
	/** How long the node may take by itself; the way there and back comes on top. */
	readonly waitMs?: number;
	readonly cause: string;
	/** What is not reachable without it: `logs`. */
	readonly what: string;
};

/** The node's answer; a node that does not answer is `ERR_NOT_REACHABLE`. */
export async function askNode<Value>(
	{control}: {readonly control: ControlPlane},
	{node, message, waitMs = 0, cause, what}: NodeAsk,
): Promise<Outcome<Value>> {
	const outcome = await control.ask<Value>(address(node, runtimePath), message, {deadlineMs: waitMs + limits.askDeadlineMs, cause});
	return !outcome.ok && unheard.has(outcome.error.code) ? notReachable(node, what) : outcome;
}

const notReachable = (node: string, what: string): ReturnType<typeof failed> =>
	failed('ERR_NOT_REACHABLE', {message: `the node "${node}" is not reachable, so ${what} not either`});
