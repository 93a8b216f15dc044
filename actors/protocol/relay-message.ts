// TCP connections between nodes of which one is behind NAT: what the two nodes say to each other about one, by way of control.
//
// Each message is a question, answered by the other node once it has taken it. Bytes carry numbers: after one that was lost nothing more is taken.

import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import type {Message} from '../../system/kernel/behavior.js';

export type RelayStep =
	/** Connect to what has this address and port on the other node. */
	| {readonly step: 'open'; readonly address: string; readonly port: number}
	/** Bytes, base64. Both directions count from 1, their end included. */
	| {readonly step: 'data'; readonly number: number; readonly data: string}
	/** No more comes in this direction. */
	| {readonly step: 'end'; readonly number: number}
	/** So many bytes more were taken by who they are for. */
	| {readonly step: 'credit'; readonly bytes: number}
	/** It lives. */
	| {readonly step: 'keep'}
	/** It broke. */
	| {readonly step: 'reset'};

/** From a node to control. */
export type Relay = {
	readonly type: 'relay';
	/** Who says it, and to whom it is said. */
	readonly node: string;
	readonly to: string;
	/** The connection, as the node that opened it called it. */
	readonly session: string;
	readonly step: RelayStep;
};

/** Control names the pod that an endpoint is. */
export type PassedStep = Exclude<RelayStep, {step: 'open'}> | {readonly step: 'open'; readonly uid: string; readonly port: number};

/** From control to a node. */
export type Relayed = {readonly type: 'relayed'; readonly from: string; readonly session: string; readonly step: PassedStep};

/** Of what a node sends, whether all is there and of a size that was agreed on. */
export function isRelay(message: Message): boolean {
	const {node, to, session, step} = message as unknown as {readonly [member: string]: unknown};
	return isName(node) && isName(to) && isName(session) && isObject(step) && isStep(step);
}

const isName = (value: unknown): boolean => typeof value === 'string' && value !== '' && value.length <= limits.shownNameCharacters;

const isCount = (value: unknown, most: number): boolean =>
	Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most;

/** Base64 takes four characters for three bytes. */
const dataCharacters = Math.ceil(limits.relayChunkBytes / 3) * 4;

function isStep({step, address, port, number, data, bytes}: {readonly [member: string]: unknown}): boolean {
	switch (step) {
		case 'open':
			return isName(address) && isCount(port, 65_535);
		case 'data':
			return isCount(number, Number.MAX_SAFE_INTEGER) && typeof data === 'string' && data !== '' && data.length <= dataCharacters;
		case 'end':
			return isCount(number, Number.MAX_SAFE_INTEGER);
		case 'credit':
			return isCount(bytes, limits.relayWindowBytes);
		case 'keep':
		case 'reset':
			return true;
		default:
			return false;
	}
}
