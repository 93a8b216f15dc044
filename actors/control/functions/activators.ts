// Where activators live: a function has one while it is called, or has instances, and one more
// for each version that has calls of its own. A function that is at rest costs its object alone.

import {parseObjectKey} from '../../../api/keys.js';
import {next, reply, tell, type Behavior, type Effect} from '../../../system/kernel/behavior.js';
import {activatorName, activatorOf} from '../../addresses.js';
import {activator, type ActivatorInput} from './activator.js';
import type {Acquire, Activate} from './function-message.js';

export const activators: Behavior<null, null, Activate | Acquire> = {
	kind: 'Activators',
	init: () => next(null),
	receive(state, message) {
		switch (message.type) {
			case 'activate':
				return next(state, [begun(message), ...reply(message.replyTo, {ok: true, value: null})]);
			case 'acquire': {
				const {namespace, name} = parseObjectKey(message.function);
				return next(state, [begun(message), tell(activatorOf(namespace, name, message.revision), message)]);
			}
		}
	},
	pastIntensity: 'backOff',
};

/** Where it has one, that is left alone. */
function begun({function: key, revision}: ActivatorInput): Effect {
	const input: ActivatorInput = revision === undefined ? {function: key} : {function: key, revision};
	return {type: 'spawn', name: activatorName(parseObjectKey(key), revision), behavior: activator.kind, input, restart: 'transient'};
}
