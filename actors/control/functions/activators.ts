// Where activators live: a function has one while it is called, or has instances. A function that is at rest costs its object alone.

import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import {next, reply, tell, type Behavior, type Effect} from '../../../system/kernel/behavior.js';
import {activatorOf} from '../../addresses.js';
import {activator, type ActivatorInput} from './activator.js';
import type {Acquire, Activate} from './function-message.js';

export const activators: Behavior<null, null, Activate | Acquire> = {
	kind: 'Activators',
	init: () => next(null),
	receive(state, message) {
		switch (message.type) {
			case 'activate':
				return next(state, [begun(message.function), ...reply(message.replyTo, {ok: true, value: null})]);
			case 'acquire': {
				const {namespace, name} = parseObjectKey(message.function);
				return next(state, [begun(message.function), tell(activatorOf(namespace, name), message)]);
			}
		}
	},
	pastIntensity: 'backOff',
};

/** Where it has one, that is left alone. */
function begun(key: ObjectKey): Effect {
	const {namespace, name} = parseObjectKey(key);
	const input: ActivatorInput = {function: key};
	return {type: 'spawn', name: `${namespace}.${name}`, behavior: activator.kind, input, restart: 'transient'};
}
