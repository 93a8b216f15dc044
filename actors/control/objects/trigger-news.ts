// What the record of a Function or a Workflow is told of its triggers, and the event that it makes of that: one for each trigger.

import type {Effect, Message} from '../../../system/kernel/behavior.js';
import {normal, warning} from './event.js';

/** What a trigger saw was given up: it could not be delivered, or no run could be made for it. */
export type Undelivered = Message & {readonly type: 'undelivered'; readonly trigger: string; readonly message: string};

/** What a trigger saw started no run, since another one of it is under way. */
export type PassedOver = Message & {readonly type: 'passedOver'; readonly trigger: string};

export const isTriggerNews = ({type}: Message): boolean => type === 'undelivered' || type === 'passedOver';

export function triggerEvent(news: Undelivered | PassedOver): Effect {
	const {trigger} = news;
	if (news.type === 'undelivered') return {...warning('Undelivered', `trigger "${trigger}": ${news.message}`), aspect: trigger};
	return {
		...normal(
			'PassedOver',
			`trigger "${trigger}": no run was started, since another one of it is under way and concurrencyPolicy is Forbid`,
		),
		aspect: trigger,
	};
}
