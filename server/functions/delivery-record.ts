// A delivery as the store has it, and what of it is kept in memory.

import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {membersOf, textOf} from '../../api/rules/report.js';
import type {JsonObject} from '../../api/object.js';
import type {Delivery, DeliveryReply} from './delivery.js';
import {headOf, keptText} from './kept-text.js';

/** All but its body. */
export type DeliveryHead = Omit<Delivery, 'body'> & {
	/** What it takes in the store, about: a part of it, all but the body, is in memory as well. */
	readonly bytes: number;
	/** When it was accepted, wall time. */
	readonly atMs: number;
};

/** One that was accepted; `tries` are those that have failed. */
export type Kept = DeliveryHead & {readonly id: string; tries: number};

export function keptDelivery({body, ...delivery}: Delivery, atMs: number): {readonly text: string; readonly head: DeliveryHead} {
	const bytes = JSON.stringify(delivery).length + body.length;
	const head: DeliveryHead = {...delivery, bytes, atMs};
	return {text: keptText(head, body), head};
}

/** Undefined: it says no delivery. */
export function readDelivery(text: string): DeliveryHead | undefined {
	const head = membersOf(headOf(text));
	const {namespace, name} = membersOf(head['function']);
	const {trigger, contentType, retries, bytes, atMs} = head;
	if (typeof namespace !== 'string' || !isDnsLabel(namespace) || typeof name !== 'string' || !isDnsSubdomain(name)) return undefined;
	if (typeof trigger !== 'string' || typeof contentType !== 'string') return undefined;
	if (typeof retries !== 'number' || typeof bytes !== 'number' || typeof atMs !== 'number') return undefined;
	return {
		function: {namespace, name},
		trigger,
		queue: textOf(head['queue']),
		by: textOf(head['by']),
		path: textOf(head['path']),
		contentType,
		headers: textsOf(membersOf(head['headers'])),
		retries,
		deadLetterTopic: textOf(head['deadLetterTopic']),
		reply: replyOf(membersOf(head['reply'])),
		bytes,
		atMs,
	};
}

const textsOf = (members: JsonObject): Readonly<Record<string, string>> =>
	Object.fromEntries(Object.entries(members).filter((each): each is [string, string] => typeof each[1] === 'string'));

function replyOf({type, topic, id}: JsonObject): DeliveryReply | undefined {
	if (type === 'kept') return {type};
	return type === 'topic' && typeof topic === 'string' && typeof id === 'string' ? {type, topic, id} : undefined;
}
