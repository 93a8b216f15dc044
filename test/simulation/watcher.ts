// A tool outside that follows the topics and is cut off now and then. It may miss what it likes, as long as the gap shows.

import {parseTopic, topicPrefix} from '../../api/topics.js';
import {gapsIn, type TopicMessage} from '../../server/topics.js';
import type {World} from '../../system/world/world.js';
import type {Dial} from '../../system/world/broker.js';
import {Line} from '../../system/world/uplink.js';

export class Watcher {
	readonly #line: Line;
	/** Live and retained messages by plural and namespace, in order of arrival. */
	readonly #heard = new Map<string, TopicMessage[]>();

	constructor(world: World, dial: Dial) {
		const process = world.process(world.host('tool'));
		this.#line = new Line({world, process, clientId: 'tool', dial});
		this.#line.subscribe(`${topicPrefix}objects/#`, (topic, payload, retained) => this.#hear(topic, payload as string, retained));
	}

	cut(): void {
		this.#line.cut(false);
	}

	#hear(topic: string, payload: string, retained: boolean): void {
		const parsed = parseTopic(topic);
		if (parsed?.type !== 'object' || payload === '') return;
		const scope = `${parsed.plural}/${parsed.namespace}`;
		const {epoch, rv, prev} = JSON.parse(payload) as TopicMessage;
		const heard = this.#heard.get(scope) ?? [];
		heard.push({epoch, rv, prev, retained});
		this.#heard.set(scope, heard);
	}

	/** Changes that were missed and that no gap tells of, given all there were by plural and namespace. */
	missedSilently(all: ReadonlyMap<string, readonly number[]>): string[] {
		return [...this.#heard].flatMap(([scope, messages]) => {
			const live = messages.filter(({retained}) => !retained);
			const seen = new Set(live.map(({rv}) => rv));
			const first = live[0]?.rv ?? Number.POSITIVE_INFINITY;
			const last = Math.max(...seen);
			const told = toldRanges(messages, live);
			const isTold = (version: number): boolean => told.some(([from, to]) => version > from && version <= to);
			const missing = (all.get(scope) ?? []).filter(version => version > first && version < last && !seen.has(version));
			return missing.filter(version => !isTold(version)).map(version => `${scope}@${version}`);
		});
	}
}

/** Ranges of versions that may have been missed, as the messages themselves show it. */
const toldRanges = (messages: readonly TopicMessage[], live: readonly TopicMessage[]): readonly (readonly [from: number, to: number])[] => [
	...gapsIn(messages).map(({from, to}) => [from, to] as const),
	// Another epoch may have begun with `prev` 0: all before its first message is in doubt.
	...live.flatMap((message, at) => {
		const before = live[at - 1];
		return before === undefined || before.epoch === message.epoch ? [] : [[before.rv, message.rv] as const];
	}),
];
