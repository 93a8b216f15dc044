// Messages between an agent and what serves traffic, on a stream: the length of each in four bytes, then its JSON.
//
// What it keeps true: a peer that says anything else is heard no further, and neither end fails by it.

import type {Socket} from 'node:net';
import {parsedJson} from '../../../api/value-or.js';
import {isObject, type JsonObject} from '../../../api/object.js';
import {limits} from '../../../api/limits.js';

const headBytes = 4;

/** Throws an Error for a message that no peer would take. */
export function frameOf(message: object): Buffer {
	const body = Buffer.from(JSON.stringify(message), 'utf8');
	if (body.length > limits.feedFrameBytes) throw new Error(`a message of ${body.length} bytes is longer than ${limits.feedFrameBytes}`);
	const head = Buffer.alloc(headBytes);
	head.writeUInt32BE(body.length);
	return Buffer.concat([head, body]);
}

/** Takes what has arrived; returns what is wrong with it, after which nothing more is taken. */
export function frameReader(onMessage: (message: JsonObject) => void): (data: Buffer) => string | undefined {
	let parts: Buffer[] = [];
	let held = 0;
	let problem: string | undefined;
	/** Joins what is held only where all of it is there: a long message comes in many parts. */
	const take = (bytes: number): Buffer => {
		const [first] = parts;
		const all = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
		parts = all.length > bytes ? [all.subarray(bytes)] : [];
		held = all.length - bytes;
		return all.subarray(0, bytes);
	};
	let wanted: number | undefined;
	return data => {
		if (problem !== undefined) return problem;
		parts.push(data);
		held += data.length;
		while (held >= (wanted ?? headBytes)) {
			if (wanted === undefined) {
				wanted = take(headBytes).readUInt32BE();
				if (wanted <= limits.feedFrameBytes) continue;
				return (problem = `a message of ${wanted} bytes was announced, ${limits.feedFrameBytes} are taken`);
			}
			const message = parsedJson(take(wanted).toString('utf8'));
			wanted = undefined;
			if (!isObject(message)) return (problem = 'what came is no message of this protocol');
			onMessage(message);
		}
		return undefined;
	};
}

/** Sends what has a form that the other end knows; on a socket that is gone, nothing. */
export function sendFrame(socket: Socket, message: object): void {
	if (socket.writable) socket.write(frameOf(message));
}
