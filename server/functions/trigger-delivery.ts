// What a trigger of a function has the function called with.

import {limits} from '../../api/limits.js';
import type {Occasion, Seen, Taker} from '../triggers/occasion.js';
import type {OpenDeliveries} from './deliveries.js';
import type {Delivery} from './delivery.js';
import {headerOf} from './function-messages.js';

/** What triggers of functions see is delivered. */
export const functionTaker = (deliveries: Pick<OpenDeliveries, 'accept' | 'checkRoom' | 'giveUp'>): Taker => ({
	accept: occasion => deliveries.accept(deliveryOf(occasion)),
	checkRoom: occasions => deliveries.checkRoom(occasions.map(deliveryOf)),
	giveUp: (occasion, error) => deliveries.giveUp(deliveryOf(occasion), error),
});

function deliveryOf({target: {namespace, name}, trigger, seen}: Occasion): Delivery {
	const {headers, ...what} = contentOf(seen);
	return {
		function: {namespace, name},
		trigger: trigger.name,
		...what,
		headers: {...headers, 'x-troupe-trigger': trigger.name},
		retries: trigger.retries ?? limits.deliveryRetries,
		deadLetterTopic: trigger.deadLetterTopic,
		reply: undefined,
	};
}

function contentOf(seen: Seen): Pick<Delivery, 'queue' | 'by' | 'contentType' | 'headers' | 'body'> {
	switch (seen.type) {
		case 'time':
			return {
				queue: undefined,
				by: undefined,
				contentType: 'application/json',
				headers: {'x-troupe-scheduled-time': new Date(seen.atMs).toISOString()},
				body: Buffer.from(seen.params),
			};
		case 'change':
			return {
				queue: `object ${seen.key}`,
				by: undefined,
				contentType: 'application/json',
				headers: {'x-troupe-change': seen.change},
				body: Buffer.from(`{"change":"${seen.change}","object":${seen.object}}`),
			};
		case 'message':
			return {
				queue: `topic:${seen.topic}`,
				by: seen.login,
				contentType: seen.json === undefined ? 'application/octet-stream' : 'application/json',
				headers: {'x-troupe-topic': headerOf(seen.topic)},
				body: seen.payload,
			};
	}
}
