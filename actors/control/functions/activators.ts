// Where activators live: a function has one while it is called, or has instances. A function that is at rest costs its object alone.

import {parseObjectKey} from '../../../api/keys.js';
import {next, reply, type Behavior} from '../../../system/kernel/behavior.js';
import {activator, type ActivatorInput} from './activator.js';
import type {Activate} from './function-message.js';

export const activators: Behavior<null, null, Activate> = {
	kind: 'Activators',
	init: () => next(null),
	receive(state, message) {
		switch (message.type) {
			case 'activate': {
				const {namespace, name} = parseObjectKey(message.function);
				const input: ActivatorInput = {function: message.function};
				return next(state, [
					{type: 'spawn', name: `${namespace}.${name}`, behavior: activator.kind, input, restart: 'transient'},
					...reply(message.replyTo, {ok: true, value: null}),
				]);
			}
		}
	},
	pastIntensity: 'backOff',
};
