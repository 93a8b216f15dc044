// Answers to tasks of runs by MQTT: `runs/NAMESPACE/NAME/answer`, by the token that the task was called with.
//
// Of QoS 1 and 2 a message is taken once the answer is committed. What may be better later (the store fails, the control plane starts) is not
// taken, and its client sends it again; what never will be is taken and told: to its login, where it has given it an id, and in the log. QoS 0 is
// tried once.

import {isUtf8} from 'node:buffer';
import type {TaskAnswered} from '../../actors/control/workflows/run-message.js';
import {AppError, errorTable, failure, type Failure} from '../../api/errors.js';
import {objectAddress, objectKey} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import type {Identity} from '../../api/roles.js';
import {isDnsLabel, isDnsSubdomain} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import {parseTopic} from '../../api/topics.js';
import {parsedJson} from '../../api/value-or.js';
import type {ClientMessage} from '../../system/broker/ports.js';
import type {ControlPlane} from '../control-plane.js';
import type {MessageTaker, OnRefused} from '../message-taker.js';
import {idWords, isId, replyTopic, type PublishUser} from '../functions/function-messages.js';
import {errorReply} from '../functions/invoke-reply.js';
import {readTaskAnswer} from './task-answer.js';

export type RunAnswersOptions = {
	readonly control: Pick<ControlPlane, 'ask'> & {readonly index: Pick<ControlPlane['index'], 'entry'>};
	readonly publish: PublishUser;
	readonly onRefused: OnRefused;
};

/** Who is told what came of an answer: undefined where nobody knows who has published, or it does not want to know. */
type Asker = {readonly login: string; readonly id: string} | undefined;

/** Of one login, at QoS 0: nobody waits for them. */
type UnderWay = Map<string, number>;

/** Takes answers. The token is the proof: who has published it need not be known. */
export function createRunAnswers(options: RunAnswersOptions): MessageTaker {
	const underWay: UnderWay = new Map();
	return {
		accept(identity, message) {
			const topic = parseTopic(message.topic);
			if (topic?.type !== 'answer') return undefined;
			const {namespace, name} = topic;
			return message.qos > 0
				? answered(options, identity, message, {namespace, name})
				: bounded(underWay, options, identity, message, {namespace, name});
		},
	};
}

type Place = {readonly namespace: string; readonly name: string};

function bounded(
	underWay: UnderWay,
	options: RunAnswersOptions,
	identity: Identity | undefined,
	message: ClientMessage,
	place: Place,
): Promise<void> {
	const login = identity?.name ?? '';
	const before = underWay.get(login) ?? 0;
	if (before >= limits.invokesPerLogin) {
		const why = failure('ERR_BUSY', {message: `${before} answers of "${login}" are under way; try again when one has ended`});
		return refused(options, identity, message, why);
	}
	underWay.set(login, before + 1);
	return answered(options, identity, message, place).finally(() => {
		const left = (underWay.get(login) ?? 1) - 1;
		if (left === 0) underWay.delete(login);
		else underWay.set(login, left);
	});
}

async function answered(
	options: RunAnswersOptions,
	identity: Identity | undefined,
	message: ClientMessage,
	{namespace, name}: Place,
): Promise<void> {
	const {payload} = message;
	const body = isUtf8(payload) ? parsedJson(payload.toString()) : undefined;
	const {id, ...answer} = isObject(body) ? body : {};
	const asker: Asker = identity !== undefined && isId(id) ? {login: identity.name, id} : undefined;
	const refuse = (why: Failure): Promise<void> => refused(options, identity, message, why, asker);
	if (!isObject(body))
		return refuse(failure('ERR_BAD_REQUEST', {message: 'an answer must be an object, such as {"token": "…", "output": 1}'}));
	if (id !== undefined && !isId(id)) return refuse(failure('ERR_BAD_REQUEST', {message: `${idWords}, got ${shown(id)}`}));
	const read = readTaskAnswer(answer, ['token']);
	if (!read.ok) return refuse(failure('ERR_BAD_REQUEST', {message: read.message}));
	const key = objectKey('runs', namespace, name);
	if (!isDnsLabel(namespace) || !isDnsSubdomain(name) || options.control.index.entry(key) === undefined)
		return refuse(failure('ERR_NOT_FOUND', {resource: 'runs.troupe.dev', name}));
	const told: TaskAnswered = {type: 'taskAnswered', ...read.value};
	const outcome = await options.control.ask(objectAddress(key), told, {
		deadlineMs: limits.askDeadlineMs,
		cause: `mqtt ${identity?.name ?? 'unknown'} ${key}`,
	});
	if (!outcome.ok) return refuse(outcome.error);
	reply(options, asker, known => JSON.stringify({id: known, taken: true}));
}

function reply({publish}: RunAnswersOptions, asker: Asker, text: (id: string) => string): void {
	if (asker !== undefined) publish(replyTopic(asker.login, asker.id), text(asker.id));
}

/** Rejects where it may be taken later, and somebody sends it again. */
function refused(
	options: RunAnswersOptions,
	identity: Identity | undefined,
	{topic, qos}: ClientMessage,
	why: Failure,
	asker?: Asker,
): Promise<void> {
	options.onRefused(why, {topic, login: identity?.name});
	const isForNow = errorTable[why.code].retryable || why.code === 'ERR_INTERNAL';
	if (qos > 0 && isForNow) return Promise.reject(AppError.of(why));
	reply(options, asker, id => errorReply(id, why));
	return Promise.resolve();
}
