// Plays messages to one behaviour without a runtime: what the last step made of the state, and what it asked for.

import {address} from '../../api/keys.js';
import type {ApiObject} from '../../api/object.js';
import type {Behavior, Context, Effect, Message, Next, Pending} from './behavior.js';
import {emptyIndex} from '../index/object-index.js';
import {seededRandom} from '../time/random.js';

export type Played<State> = {
	readonly state: State;
	/** Of the last step only. */
	readonly effects: readonly Effect[];
	readonly stopped: boolean;
	/** The object as the last step would have it committed. */
	readonly object: ApiObject | undefined;
};

/** A context with nothing around it, but for what is given. */
export const playContext = (overrides: Partial<Context> = {}): Context => {
	const children = overrides.children ?? [];
	return {
		self: address('control', 'self'),
		cause: 'play',
		nowMs: 1_700_000_000_000,
		monotonicMs: 1_000_000,
		children,
		hasChild: name => children.includes(name),
		random: seededRandom(1),
		known: emptyIndex,
		pending: new Map<string, Pending>(),
		...overrides,
	};
};

/** One step for a message. Throws where the behaviour knows no such message. */
export function receivedBy<State, In extends Message>(
	{kind, receive}: Pick<Behavior<never, State, In>, 'kind' | 'receive'>,
	state: State,
	message: In,
	context: Context = playContext(),
): Next<State> {
	const next = receive(state, message, context);
	if (next === undefined) throw new Error(`a ${kind} knows no message "${message.type}"`);
	return next;
}

/** Runs `init` and then each message, all in one context. */
export function play<Input, State, In extends Message>(
	behavior: Behavior<Input, State, In>,
	input: Input,
	messages: readonly In[] = [],
	context: Context = playContext(),
): Played<State> {
	return messages.reduce(
		(played, message) => playedOf(behavior, receivedBy(behavior, played.state, message, context)),
		playedOf(behavior, behavior.init(input, context)),
	);
}

/** Runs messages from a given state, as after a restart. */
export function playFrom<Input, State, In extends Message>(
	behavior: Behavior<Input, State, In>,
	state: State,
	messages: readonly In[],
	context: Context = playContext(),
): Played<State> {
	const start: Played<State> = {state, effects: [], stopped: false, object: behavior.persistence?.objectOf(state)};
	return messages.reduce((played, message) => playedOf(behavior, receivedBy(behavior, played.state, message, context)), start);
}

const playedOf = <Input, State, In extends Message>(behavior: Behavior<Input, State, In>, step: Next<State>): Played<State> => ({
	state: step.state,
	effects: step.effects,
	stopped: step.stop === true,
	object: behavior.persistence?.objectOf(step.state),
});
