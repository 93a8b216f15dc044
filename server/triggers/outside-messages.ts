// Messages that trigger something, and answers to tasks of runs, of a broker that is another program: control subscribes to what is below the first levels
// of all filters, as they come and go. That broker acknowledges by itself and does not say who has published, so such a message is taken as it comes, once.

import {limits} from '../../api/limits.js';
import {runAnswersFilter} from '../../api/topics.js';
import type {TopicListener} from '../../system/links/mqtt-link.js';
import type {MessageTaker} from '../message-taker.js';
import type {TopicTriggers} from './topic-triggers.js';

export type OutsideMessagesOptions = {
	readonly subscribe: (filter: string, listener: TopicListener) => () => void;
	readonly triggers: Pick<TopicTriggers, 'firstLevels' | 'onFirstLevels'>;
	readonly messages: MessageTaker;
	/** There are more first levels than are subscribed to. */
	readonly onTooMany: (levels: number) => void;
};

/** Follows until it is closed. */
export function followOutsideMessages({subscribe, triggers, messages, onTooMany}: OutsideMessagesOptions): {readonly close: () => void} {
	const ends = new Map<string, () => void>();
	const hear: TopicListener = (topic, text, isRetained, payload = Buffer.from(text)) => {
		// What that broker had already is no new message. Why one is not taken is told where it is refused.
		if (!isRetained) messages.accept(undefined, {topic, payload, qos: 0})?.catch(() => undefined);
	};
	const follow = (levels: readonly string[]): void => {
		if (levels.length > limits.outsideTriggerLevels) onTooMany(levels.length);
		const wanted = new Set(levels.slice(0, limits.outsideTriggerLevels));
		for (const [level, end] of ends) {
			if (wanted.has(level)) continue;
			ends.delete(level);
			end();
		}
		for (const level of wanted) if (!ends.has(level)) ends.set(level, subscribe(`${level}/#`, hear));
	};
	triggers.onFirstLevels(() => follow(triggers.firstLevels()));
	follow(triggers.firstLevels());
	const endAnswers = subscribe(runAnswersFilter, hear);
	return {
		close() {
			endAnswers();
			triggers.onFirstLevels(() => undefined);
			follow([]);
		},
	};
}
