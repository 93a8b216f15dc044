// Triggers of functions and workflows for one term: who makes something of what they see, and who hears of what is given up.

import type {PassedOver, Undelivered} from '../../../actors/control/objects/trigger-news.js';
import {objectAddress, objectKey} from '../../../api/keys.js';
import type {ControlPlane} from '../../../server/control-plane.js';
import type {OpenDeliveries} from '../../../server/functions/deliveries.js';
import {functionTaker} from '../../../server/functions/trigger-delivery.js';
import type {Takers, TriggerTarget} from '../../../server/triggers/occasion.js';
import {followTriggers, type OnGivenUp, type Triggers} from '../../../server/triggers/triggers.js';
import {createRunStarts} from '../../../server/workflows/run-starts.js';
import {workflowsBehind} from '../../../server/workflows/workflows-behind.js';
import type {Clock} from '../../../system/time/clock.js';

export type OpenTriggers = {
	readonly takers: Takers;
	/** Times and changes count from now on. */
	readonly follow: () => Triggers;
	readonly close: () => void;
};

export function openTriggers({
	control,
	clock,
	deliveries,
}: {
	readonly control: ControlPlane;
	readonly clock: Clock;
	readonly deliveries: OpenDeliveries;
}): OpenTriggers {
	const onGivenUp = givenUpTeller(control);
	const starts = createRunStarts({
		...{control, clock, onGivenUp},
		onPassedOver: ({target, trigger}) => tellOf(control, target, {type: 'passedOver', trigger: trigger.name}),
	});
	const takers: Takers = {functions: functionTaker(deliveries), workflows: starts};
	return {
		takers,
		follow: () =>
			followTriggers({
				...{known: control.index, takers, clock, onGivenUp},
				workflowsBehind: object => workflowsBehind(object, control),
			}),
		close: starts.close,
	};
}

/** It is an event of whose trigger it is. */
export const givenUpTeller =
	(control: ControlPlane): OnGivenUp =>
	({target, trigger}, message) =>
		tellOf(control, target, {type: 'undelivered', trigger, message});

function tellOf(control: ControlPlane, {plural, namespace, name}: TriggerTarget, news: Undelivered | PassedOver): void {
	const key = objectKey(plural, namespace, name);
	if (control.index.get(key) !== undefined) control.tell(objectAddress(key), news, `trigger ${news.trigger}`);
}
