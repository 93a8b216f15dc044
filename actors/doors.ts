// What one system takes from another, and nothing else: a closed list of message types, each at its own path.

import {controlSystem, parseAddress, type Address} from '../api/keys.js';
import {edgePath} from '../system/edge-asks.js';
import {isReply, type Message} from '../system/behavior.js';
import {nodeSyncPath, runtimePath, syncPath} from './addresses.js';
import type {Hello} from './sync-message.js';
import {isWellFormed} from './sync-shape.js';

/** Control takes from a node what node sync says about that very node, and answers to what control asked. */
export function acceptsFromNode(node: string, to: Address, message: Message): boolean {
	const path = parseAddress(to)?.path;
	if (isReply(message)) return path === edgePath;
	switch (message.type) {
		case 'hello':
			return path === syncPath && (message as Partial<Hello> & Message).node === node && isWellFormed(message);
		case 'deltaTaken':
		case 'observed':
		case 'podGone':
			return path === nodeSyncPath(node) && isWellFormed(message);
		default:
			return false;
	}
}

const fromControl: ReadonlySet<string> = new Set(['callHello', 'delta', 'observedTaken', 'podGoneTaken', 'refused']);

/** A node takes from control its sync, and questions for its runtime. */
export function acceptsFromControl(from: string, to: Address, message: Message): boolean {
	if (from !== controlSystem) return false;
	const path = parseAddress(to)?.path;
	if (path === syncPath) return fromControl.has(message.type);
	return path === runtimePath && message.type === 'readLog';
}

/** Message types of node sync that may be handled twice: both ends number what they say. */
export const idempotentMessages: ReadonlySet<string> = new Set(['hello', 'callHello']);
