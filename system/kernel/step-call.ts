// Which function of a behaviour a step calls, and with what: as data, so that a step can be told, recorded, and played again.

import type {Failure} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import type {AnyBehavior, Context, Message, Next, Signal} from './behavior.js';

export type StepCall =
	| {readonly type: 'init'; readonly input: unknown}
	/** From a snapshot. */
	| {readonly type: 'resume'; readonly object: ApiObject; readonly input: unknown}
	| {readonly type: 'receive'; readonly message: Message}
	| {readonly type: 'signal'; readonly signal: Signal}
	/** Past its intensity, from its snapshot; what it does all the same while it is parked; and its next try. */
	| {readonly type: 'park'; readonly object: ApiObject; readonly input: unknown; readonly error: Failure}
	| {readonly type: 'meanwhile'}
	| {readonly type: 'unpark'};

/** Calls it. What the behaviour has no function for, and a message that it does not know, leaves the state as it is. Throws what it throws. */
export function runCall(behavior: AnyBehavior, state: unknown, call: StepCall, context: Context): Next<unknown> {
	const from = call.type === 'resume' || call.type === 'park' ? restoredBy(behavior, call) : state;
	return runOn(behavior, from, call, context) ?? unchanged(from);
}

/** The state that a step from a snapshot begins with. */
export const restoredBy = ({persistence}: AnyBehavior, call: Extract<StepCall, {type: 'resume' | 'park'}>): unknown =>
	persistence?.restore(call.object, call.input) as unknown;

/** As `runCall`, of a state that was restored already where it had to be. Undefined: it knows no such message. */
export function runOn(behavior: AnyBehavior, state: unknown, call: StepCall, context: Context): Next<unknown> | undefined {
	const {parking} = behavior;
	switch (call.type) {
		case 'init':
			return behavior.init(call.input, context) as Next<unknown>;
		case 'resume':
			return (behavior.resume?.(state, context) as Next<unknown> | undefined) ?? unchanged(state);
		case 'receive':
			return behavior.receive(state, call.message, context) as Next<unknown> | undefined;
		case 'signal':
			return (behavior.signal?.(state, call.signal, context) as Next<unknown> | undefined) ?? unchanged(state);
		case 'park':
			return (parking?.park(state, call.error, context) as Next<unknown> | undefined) ?? unchanged(state);
		case 'meanwhile':
			return (parking?.meanwhile?.(state, context) as Next<unknown> | undefined) ?? unchanged(state);
		case 'unpark':
			return (parking?.unpark(state, context) as Next<unknown> | undefined) ?? unchanged(state);
	}
}

export const unchanged = (state: unknown): Next<unknown> => ({state, effects: []});
