// Looks on at actors of control: what they are told and what they ask for, whatever they make of it.

import type {AnyBehavior, Context, Effect, Message, Next} from '../../system/kernel/behavior.js';
import type {SystemDesign} from '../../system/commit/durable-system.js';

export type Spy = {
	/** The actor begins, or begins again after a crash: what it held in its hands is forgotten. */
	readonly began?: (self: string) => void;
	readonly told?: (self: string, message: Message) => void;
	readonly asked?: (self: string, effect: Effect, context: Context) => void;
};

/** Two that look at the same. */
export const both = (one: Spy, other: Spy): Spy => ({
	began(self) {
		one.began?.(self);
		other.began?.(self);
	},
	told(self, message) {
		one.told?.(self, message);
		other.told?.(self, message);
	},
	asked(self, effect, context) {
		one.asked?.(self, effect, context);
		other.asked?.(self, effect, context);
	},
});

/** The same design, with a spy on each of these behaviours. */
export function spied(design: SystemDesign, spies: {readonly [behavior: string]: Spy}): SystemDesign {
	const behaviors = {...design.behaviors};
	for (const [name, spy] of Object.entries(spies)) {
		const behavior = behaviors[name];
		if (behavior !== undefined) behaviors[name] = withSpy(behavior, spy);
	}
	return {...design, behaviors};
}

function withSpy(behavior: AnyBehavior, {began, told, asked}: Spy): AnyBehavior {
	const {resume} = behavior;
	const looked = <Looked extends Next<unknown> | undefined>(next: Looked, context: Context): Looked => {
		if (asked !== undefined) for (const effect of next?.effects ?? []) asked(context.self, effect, context);
		return next;
	};
	return {
		...behavior,
		init(input: unknown, context: Context) {
			began?.(context.self);
			return looked(behavior.init(input, context) as Next<unknown>, context);
		},
		...(resume === undefined
			? {}
			: {
					resume(state: unknown, context: Context) {
						began?.(context.self);
						return looked(resume(state, context) as Next<unknown>, context);
					},
				}),
		receive(state: unknown, message: Message, context: Context) {
			told?.(context.self, message);
			return looked(behavior.receive(state, message, context) as Next<unknown> | undefined, context);
		},
	};
}
