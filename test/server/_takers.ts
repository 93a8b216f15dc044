// Who takes what triggers see, in tests of one kind of them.

import type {Deliveries} from '../../server/functions/delivery.js';
import {functionTaker} from '../../server/functions/trigger-delivery.js';
import type {Taker, Takers} from '../../server/triggers/occasion.js';

/** For a kind of which nothing has triggers. */
export const noTaker: Taker = {
	accept: () => Promise.reject(new Error('nothing of this kind has triggers here')),
	checkRoom: () => undefined,
	giveUp: () => undefined,
};

/** Functions have triggers, workflows have none. */
export const functionTakers = (
	accept: Deliveries['accept'],
	giveUp: Parameters<typeof functionTaker>[0]['giveUp'] = () => undefined,
): Takers => ({functions: functionTaker({accept, giveUp, checkRoom: () => undefined}), workflows: noTaker});
