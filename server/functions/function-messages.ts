// Calls of functions by MQTT: at QoS 1 and 2 each is a delivery, at QoS 0 it is made at once.

import {isUtf8} from 'node:buffer';
import {AppError, failure, type Failure} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {isObject, type JsonObject} from '../../api/object.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import {formatTopic, isLevel, parseTopic} from '../../api/topics.js';
import {parsedJson, valueOr} from '../../api/value-or.js';
import type {ClientMessage} from '../../system/broker/ports.js';
import {systemRandom} from '../../system/time/random.js';
import {failureOf, mayBeTakenLater} from '../may-pass.js';
import type {MessageTaker, OnRefused} from '../message-taker.js';
import type {FunctionName} from './call.js';
import {invokeMessages, type CallWhole, type Deliveries, type Delivery} from './delivery.js';
import {answerReply, errorReply} from './invoke-reply.js';

export type FunctionMessagesOptions = {
	readonly deliveries: Pick<Deliveries, 'accept'>;
	readonly call: CallWhole;
	readonly publish: PublishUser;
	readonly onRefused: OnRefused;
};

/** Publishes as the server itself, at QoS 0: nothing is triggered by it. */
export type PublishUser = (topic: string, payload: Buffer | string) => void;

type Parts = FunctionMessagesOptions & {readonly underWay: Map<string, number>};

type From = {readonly topic: string; readonly login: string | undefined};

/** Takes calls of functions, of who is known. */
export function createFunctionMessages(options: FunctionMessagesOptions): MessageTaker {
	const parts: Parts = {...options, underWay: new Map()};
	return {
		accept(identity, message) {
			const topic = parseTopic(message.topic);
			return topic?.type === 'invoke' && identity !== undefined ? invoke(parts, identity.name, topic, message) : undefined;
		},
	};
}

/** A topic as a header's value: what is no printable ASCII, and `%`, as its bytes in UTF-8. */
export const headerOf = (topic: string): string =>
	topic.replaceAll(/[^\x21-\x24\x26-\x7e]+/g, part =>
		[...Buffer.from(part)].map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
	);

type Invocation = {readonly id: string | undefined; readonly body: Buffer};

function invoke(
	parts: Parts,
	login: string,
	{namespace, name}: FunctionName,
	{topic, payload, qos}: ClientMessage,
): Promise<void> | undefined {
	const from = {topic, login};
	const read = readInvocation(payload);
	if (!read.ok) return tell(parts, from, {id: read.id, qos}, failure('ERR_BAD_REQUEST', {message: read.message}));
	const {id, body} = read.value;
	const end = {id, qos};
	if (!isDnsLabel(namespace) || !isDnsSubdomain(name))
		return tell(parts, from, end, failure('ERR_NOT_FOUND', {resource: 'functions.troupe.dev', name}));
	const content = {
		by: login,
		contentType: 'application/json',
		headers: {'x-troupe-topic': headerOf(topic)},
		body,
	};
	if (qos === 0) return callNow(parts, from, end, {fn: {namespace, name}, content});
	const reply = id === undefined ? undefined : ({type: 'topic', topic: replyTopic(login, id), id} as const);
	return parts.deliveries
		.accept({
			...content,
			function: {namespace, name},
			trigger: invokeMessages,
			queue: undefined,
			retries: limits.deliveryRetries,
			deadLetterTopic: undefined,
			reply,
		})
		.then(
			() => undefined,
			(error: unknown) => tell(parts, from, end, failureOf(error)),
		);
}

type Content = Pick<Delivery, 'by' | 'contentType' | 'headers' | 'body'>;

/** Where an answer goes, if anywhere; and what the caller has been promised. */
type End = {readonly id: string | undefined; readonly qos: 0 | 1 | 2};

/** At QoS 0: at once, and once. */
function callNow(parts: Parts, from: From & {readonly login: string}, end: End, {fn, content}: {fn: FunctionName; content: Content}) {
	const {underWay, call, publish, onRefused} = parts;
	const {login} = from;
	const before = underWay.get(login) ?? 0;
	if (before >= limits.invokesPerLogin)
		return tell(
			parts,
			from,
			end,
			failure('ERR_BUSY', {message: `${before} calls of "${login}" are under way; try again when one has ended`}),
		);
	underWay.set(login, before + 1);
	const {id} = end;
	const answer = (text: (id: string) => string): void => {
		if (id !== undefined) publish(replyTopic(login, id), text(id));
	};
	void call(fn, {...content, id: systemRandom.uuid(), answerBytes: limits.invokeReplyBytes})
		.then(
			given => answer(known => answerReply(known, given)),
			(error: unknown) => {
				const why = failureOf(error);
				if (id === undefined) onRefused(why, from);
				answer(known => errorReply(known, why));
			},
		)
		.finally(() => {
			const left = (underWay.get(login) ?? 1) - 1;
			if (left === 0) underWay.delete(login);
			else underWay.set(login, left);
		});
	return undefined;
}

/** The call is not made. What may be later is to be sent again where its sender waits for a word; else it is told why, if it can be. */
function tell(parts: Parts, from: From & {readonly login: string}, {id, qos}: End, why: Failure): Promise<void> {
	if (qos > 0 && mayBeTakenLater(why)) return refused(parts, from, AppError.of(why));
	if (id !== undefined) parts.publish(replyTopic(from.login, id), errorReply(id, why));
	if (qos === 0) return refused(parts, from, AppError.of(why));
	parts.onRefused(why, from);
	return Promise.resolve();
}

function refused({onRefused}: Parts, from: From, error: AppError): Promise<never> {
	onRefused(error.failure, from);
	return Promise.reject(error);
}

type ReadInvocation =
	| {readonly ok: true; readonly value: Invocation}
	/** `id` where that at least is right. */
	| {readonly ok: false; readonly message: string; readonly id: string | undefined};

function readInvocation(payload: Buffer): ReadInvocation {
	const value = isUtf8(payload) ? parsedJson(payload.toString()) : undefined;
	if (!isObject(value))
		return {ok: false, message: 'the message must be an object, such as {"id": "1", "params": {"x": 1}}', id: undefined};
	const {id, params = {}} = value;
	const known = isId(id) ? id : undefined;
	if (id !== undefined && known === undefined)
		return {
			ok: false,
			message: `${idWords}, got ${shown(id)}`,
			id: undefined,
		};
	const other = otherMember(value);
	if (other !== undefined) return {ok: false, message: `the message has no member ${shown(other)}; it has id and params`, id: known};
	const text = valueOr(undefined, () => JSON.stringify(params));
	if (text === undefined) return {ok: false, message: 'params is nested too deep', id: known};
	return {ok: true, value: {id: known, body: Buffer.from(text)}};
}

const otherMember = (value: JsonObject): string | undefined => Object.keys(value).find(name => name !== 'id' && name !== 'params');

export const idWords = `id must be 1 to ${limits.inspectIdCharacters} characters without +, # and /`;

/** By which a sender knows the answer to its message. One level of a topic; half a character is none. */
export const isId = (id: unknown): id is string =>
	typeof id === 'string' && id.length <= limits.inspectIdCharacters && isLevel(id) && !/[\p{Cs}\uFFFD]/u.test(id);

/** Where a login hears what came of the message with that id. */
export const replyTopic = (login: string, id: string): string => formatTopic({type: 'reply', login, id});
