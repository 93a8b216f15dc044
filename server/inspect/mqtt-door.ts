// The inspector over MQTT: each request comes on a topic of its login's own, the answers go to another one. The broker lets no login publish
// under the name of another; here it is looked up what that login is now.
//
// Only what is published while this server leads is a request: what a broker elsewhere has retained is none, and is cleared.

import {failed, failure, type Outcome} from '../../api/errors.js';
import {isChange, type ChangeRequest, type InspectAnswer, type InspectReply} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import {mayInspect, type Identity} from '../../api/roles.js';
import {formatTopic, inspectRequestsFilter, parseTopic} from '../../api/topics.js';
import type {PubSub} from '../../system/links/pubsub.js';
import type {Clock} from '../../system/time/clock.js';
import {createChangeIds, type ChangeIds} from './change-ids.js';
import type {Call, Inspection} from './inspection.js';
import {parseRequestText} from './request-shape.js';

export type MqttDoorOptions = {
	readonly inspection: Inspection;
	readonly pubsub: PubSub;
	readonly clock: Pick<Clock, 'after'>;
	/** The login of that name, as it is now. */
	readonly identityOf: (login: string) => Identity | undefined;
	/** A message that has no answer: retained, of no login, or with an id that is too long. */
	readonly onRefused: (why: 'retained' | 'unknownLogin' | 'wrongId', login: string) => void;
};

/** A question under way: which one it is by its login and id. */
type Open = {readonly call: Call; readonly silence: () => void};

type State = {
	readonly options: MqttDoorOptions;
	readonly open: Map<string, Open>;
	readonly changeIds: ChangeIds;
};

type Sender = {readonly identity: Identity; readonly id: string};

/** Answers requests until it is closed. */
export function openMqttDoor(options: MqttDoorOptions): {readonly close: () => void} {
	const state: State = {options, open: new Map(), changeIds: createChangeIds()};
	const end = options.pubsub.subscribe(inspectRequestsFilter, (topic, payload, isRetained = false) =>
		hear(state, topic, payload, isRetained),
	);
	return {close: end};
}

function hear(state: State, topic: string, payload: string, isRetained: boolean): void {
	const {pubsub, identityOf, onRefused, clock} = state.options;
	const parsed = parseTopic(topic);
	// An empty payload is how a retained message is cleared.
	if (parsed?.type !== 'inspectRequest' || payload === '') return;
	const {login, id} = parsed;
	if (isRetained) {
		// Not at once: it comes with the subscription, before that connection takes anything.
		clock.after(limits.inspectFlushMs, () => pubsub.publish(topic, '', {retain: true}));
		return onRefused('retained', login);
	}
	if (id.length > limits.inspectIdCharacters) return onRefused('wrongId', login);
	const identity = identityOf(login);
	if (identity === undefined) return onRefused('unknownLogin', login);
	take(state, {identity, id}, parseRequestText(payload));
}

function take(state: State, sender: Sender, read: Outcome<unknown>): void {
	const verb = read.ok && isObject(read.value) ? read.value['verb'] : undefined;
	const key = keyOf(sender);
	if (verb === 'renew' || verb === 'close') {
		const open = state.open.get(key);
		if (open !== undefined) return verb === 'renew' ? open.call.renew() : open.call.close();
		// It has ended, or another server has begun it: the tool has to ask again.
		return verb === 'renew' ? ask(state, sender, failed('ERR_NOT_FOUND', {resource: 'streams', name: sender.id})) : undefined;
	}
	if (typeof verb === 'string' && isChange(verb) && !isFirstChange(state, sender, verb)) {
		const message = `the id ${JSON.stringify(sender.id)} was used for a change already; each has one of its own`;
		return ask(state, sender, failed('ERR_BAD_REQUEST', {message}));
	}
	ask(state, sender, read);
}

/** Of a login that may not change anything no ids are remembered: it is refused anyway. */
const isFirstChange = ({changeIds}: State, {identity, id}: Sender, verb: ChangeRequest['verb']): boolean =>
	!mayInspect(identity, verb) || changeIds.isFirst(identity.name, id);

const keyOf = ({identity, id}: Sender): string => `${identity.name}/${id}`;

/** A look or a stream that is asked for under the same id again takes the place of the first: its tool has lost the connection meanwhile. */
function ask(state: State, sender: Sender, read: Outcome<unknown>): void {
	const {inspection} = state.options;
	const key = keyOf(sender);
	const before = state.open.get(key);
	before?.silence();
	before?.call.close();
	let seq = 0;
	let isLive = true;
	const call = inspection.ask({identity: sender.identity, door: 'mqtt'}, read, answer => {
		if (!isLive) return;
		const {text, isEnd} = messageOf({...answer, seq: seq++});
		if (isEnd) {
			isLive = false;
			if (state.open.get(key) === open) state.open.delete(key);
		}
		publish(state, sender, text);
		if (isEnd && !answer.end) call?.close();
	});
	const open: Open | undefined = call && {call, silence: () => void (isLive = false)};
	if (open === undefined) state.open.delete(key);
	else state.open.set(key, open);
}

function publish({options: {pubsub}}: State, {identity, id}: Sender, text: string): void {
	pubsub.publish(formatTopic({type: 'inspectReply', login: identity.name, id}), text, {retain: false});
}

/** An answer that is too large ends the call: it is told once that it is. */
function messageOf(reply: InspectReply): {readonly text: string; readonly isEnd: boolean} {
	const text = JSON.stringify(reply);
	if (Buffer.byteLength(text) <= limits.inspectReplyBytes) return {text, isEnd: reply.end};
	return {text: JSON.stringify({...tooLarge, seq: reply.seq}), isEnd: true};
}

const tooLarge: InspectAnswer = {
	ok: false,
	error: failure('ERR_TOO_LARGE', {
		message: `the answer is larger than ${limits.inspectReplyBytes} bytes; ask for less, such as fewer levels`,
	}),
	end: true,
};
