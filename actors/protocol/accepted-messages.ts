// What one system takes from another, and nothing else: a closed list of message types, each at its own path.

import {controlSystem, parseAddress, type Address} from '../../api/keys.js';
import {downsPath} from '../../system/kernel/watch-message.js';
import {edgePath} from '../../system/kernel/edge-asks.js';
import {isReply, type AnyReply, type Message} from '../../system/kernel/behavior.js';
import {
	autoscalersPath,
	inspectorPath,
	leasesPath,
	nodeSyncPath,
	relayPath,
	runtimePath,
	schedulerPath,
	syncPath,
	usagePath,
} from '../addresses.js';
import {isRelay, type Relay} from './relay-message.js';
import type {Hello} from './sync-message.js';
import {isWellFormed} from './sync-shape.js';

/** Control takes from a node what node sync says about that very node, what it says to others of its relayed connections, and answers. */
export function acceptsFromNode(node: string, to: Address, message: Message): boolean {
	const path = parseAddress(to)?.path;
	if (isReply(message))
		return (
			path === edgePath ||
			(path === relayPath && message.type === 'relayAnswered') ||
			(path === autoscalersPath && isUsageOf(node, message)) ||
			(path === schedulerPath && message.type === 'used' && message.id === node)
		);
	switch (message.type) {
		case 'hello':
			return path === syncPath && (message as Partial<Hello> & Message).node === node && isWellFormed(message);
		case 'deltaTaken':
		case 'observed':
		case 'podGone':
		case 'volumeRemoval':
		case 'volumeUsage':
		case 'renewLeases':
			return path === nodeSyncPath(node) && isWellFormed(message);
		case 'relay':
			return path === relayPath && (message as Partial<Relay> & Message).node === node && isRelay(message);
		// A node may watch the actors that it may speak to.
		case 'watchActor':
		case 'unwatchActor':
			return path === syncPath || path === nodeSyncPath(node);
		case 'actorDown':
			return path === downsPath;
		default:
			return false;
	}
}

const isUsageOf = (node: string, {type, id}: AnyReply): boolean => type === 'usageTold' && id.endsWith(`/${node}`);

/** Control takes from a user's system answers to what it asked, and nothing else. */
export const acceptsFromUserSystem = (to: Address, message: Message): boolean => isReply(message) && parseAddress(to)?.path === edgePath;

/** A user's system takes from control questions for its inspector, and from systems of its login whatever is for its other actors. */
export function acceptsAsUserSystem(from: string, to: Address, message: Message): boolean {
	const path = parseAddress(to)?.path;
	if (from === controlSystem) return path === inspectorPath && message.type === 'inspect';
	return path !== inspectorPath;
}

const fromControl: ReadonlySet<string> = new Set(['callHello', 'delta', 'observedTaken', 'podGoneTaken', 'refused', 'servers']);

/** One of these waits per node: a newer one takes the place of the older. */
export const boundedFromNode: ReadonlySet<string> = new Set(['hello', 'observed', 'renewLeases']);

/** Control is trusted to keep to the windows of node sync. */
export const boundedFromControl = fromControl;

const forRuntime: ReadonlySet<string> = new Set([
	'readLog',
	'execOpen',
	'imageOpen',
	'imageList',
	'execWrite',
	'execRead',
	'execResize',
	'execClose',
	'forwardOpen',
	'wayCheck',
	'stdinWrite',
	'retryContainer',
]);

const watching: ReadonlySet<string> = new Set(['watchActor', 'unwatchActor']);

/**
 * A node takes from control its sync, questions for its runtime, its inspector and its relayed connections, and answers to what it asked; control may
 * watch every actor of a node.
 */
export function acceptsFromControl(from: string, to: Address, message: Message): boolean {
	if (from !== controlSystem) return false;
	const path = parseAddress(to)?.path;
	if (isReply(message)) return path === edgePath;
	if (watching.has(message.type)) return true;
	if (message.type === 'actorDown') return path === downsPath;
	if (path === syncPath) return fromControl.has(message.type);
	if (path === usagePath) return message.type === 'readUsage';
	if (path === leasesPath) return message.type === 'leasesRenewed';
	if (path === inspectorPath) return message.type === 'inspect';
	if (path === relayPath) return message.type === 'relayed';
	return path === runtimePath && forRuntime.has(message.type);
}

/** Message types of node sync that may be handled twice: both ends number what they say. */
export const idempotentMessages: ReadonlySet<string> = new Set(['hello', 'callHello']);
