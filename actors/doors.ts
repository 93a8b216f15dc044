// What one system takes from another, and nothing else: a closed list of message types, each at its own path.

import {parseAddress, type Address} from '../api/keys.js';
import type {Message} from '../system/behavior.js';
import type {Hello} from './sync-message.js';
import {isWellFormed} from './sync-shape.js';

const isReply = (message: Message): boolean => 'outcome' in message && 'id' in message;

/** Control takes from a node what node sync says about that very node, and answers to what control asked. */
export function acceptsFromNode(node: string, to: Address, message: Message): boolean {
	const path = parseAddress(to)?.path;
	if (isReply(message)) return path === 'edge';
	switch (message.type) {
		case 'hello':
			return path === 'sync' && (message as Partial<Hello> & Message).node === node && isWellFormed(message);
		case 'deltaTaken':
		case 'observed':
		case 'podGone':
			return path === `sync/${node}` && isWellFormed(message);
		default:
			return false;
	}
}

const fromControl: ReadonlySet<string> = new Set(['callHello', 'delta', 'observedTaken', 'podGoneTaken', 'refused']);

/** A node takes from control its sync, and questions for its runtime. */
export function acceptsFromControl(from: string, to: Address, message: Message): boolean {
	if (from !== 'control') return false;
	const path = parseAddress(to)?.path;
	if (path === 'sync') return fromControl.has(message.type);
	return path === 'runtime' && message.type === 'readLog';
}

/** Message types of node sync that may be handled twice: both ends number what they say. */
export const idempotentMessages: ReadonlySet<string> = new Set(['hello', 'callHello']);
