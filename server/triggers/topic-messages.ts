// Messages of topics that trigger functions or workflows.

import {isUtf8} from 'node:buffer';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {isUserTopic} from '../../api/topics.js';
import {parsedJson} from '../../api/value-or.js';
import {failureOf, mayBeTakenLater} from '../may-pass.js';
import type {MessageTaker, OnRefused} from '../message-taker.js';
import {triggeredPlurals, type Occasion, type Seen, type Takers} from './occasion.js';
import type {TopicTriggers} from './topic-triggers.js';

export type TopicMessagesOptions = {
	readonly triggers: Pick<TopicTriggers, 'match'>;
	readonly takers: Takers;
	readonly onRefused: OnRefused;
};

type SeenMessage = Extract<Seen, {type: 'message'}>;

export const createTopicMessages = (options: TopicMessagesOptions): MessageTaker => ({
	accept: (identity, {topic, payload}) => (isUserTopic(topic) ? triggered(options, identity?.name, topic, payload) : undefined),
});

function triggered(options: TopicMessagesOptions, login: string | undefined, topic: string, payload: Buffer): Promise<void> | undefined {
	const {triggers, takers, onRefused} = options;
	const found = triggers.match(topic, limits.messageTriggers + 1);
	if (found.length === 0) return undefined;
	const refused = (error: AppError): Promise<never> => {
		onRefused(error.failure, {topic, login});
		return Promise.reject(error);
	};
	if (found.length > limits.messageTriggers)
		return refused(new AppError('ERR_BUSY', {message: `more than ${limits.messageTriggers} triggers match the topic`}));
	const json = isUtf8(payload) ? parsedJson(payload.toString()) : undefined;
	const seen: SeenMessage = {type: 'message', topic, payload: Buffer.from(payload), json, login};
	const occasions = found.map(({target, trigger}): Occasion => ({target, trigger, seen}));
	try {
		// What is committed for some of them is delivered to these again when its client sends it again.
		for (const plural of triggeredPlurals) takers[plural].checkRoom(occasions.filter(({target}) => target.plural === plural));
	} catch (error) {
		return refused(error as AppError);
	}
	return Promise.all(occasions.map(each => take(options, seen, each))).then(() => undefined);
}

/** Rejects where it may be taken later. One whose target has gone meanwhile is nobody's. */
async function take({takers, onRefused}: TopicMessagesOptions, from: SeenMessage, occasion: Occasion): Promise<void> {
	const taker = takers[occasion.target.plural];
	try {
		await taker.accept(occasion);
	} catch (error) {
		const why = failureOf(error);
		if (why.code === 'ERR_NOT_FOUND') return;
		onRefused(why, {topic: from.topic, login: from.login});
		if (mayBeTakenLater(why)) throw error;
		taker.giveUp(occasion, error as Error);
	}
}
