// One actor system with an inspector that is asked directly.

import type {ExecutionContext} from 'ava';
import type {Outcome} from '../../../api/errors.js';
import type {LookAnswer, LookRequest, StreamOpened, StreamPortion, SystemRequest} from '../../../api/inspect.js';
import type {ActorSystemOptions} from '../../../system/kernel/actor-options.js';
import type {AnyBehavior} from '../../../system/kernel/behavior.js';
import type {InspectorOptions} from '../../../system/inspect/inspecting.js';
import {createInspector, type Inspector} from '../../../system/inspect/inspector.js';
import {actorWorld, type ActorWorld} from '../kernel/actor-world.js';
import type {Play} from '../kernel/puppet.js';

export type InspectWorld = ActorWorld & {
	readonly inspector: Inspector;
	/** Outcomes appear in the list as they come. */
	readonly inspect: (request: SystemRequest) => Outcome<unknown>[];
	/** The answer, once everything has run; fails the test where there is none. */
	readonly look: <Request extends LookRequest>(t: ExecutionContext, request: Request) => LookAnswer[Request['verb']];
	/** The code of the failure. */
	readonly refusal: (request: SystemRequest) => string;
};

export function inspectWorld(
	first: Play = {},
	{
		options = {},
		system = {},
		behaviors = {},
	}: {
		readonly options?: InspectorOptions;
		readonly system?: Partial<ActorSystemOptions>;
		readonly behaviors?: {readonly [name: string]: AnyBehavior};
	} = {},
): InspectWorld {
	const world = actorWorld(first, system, behaviors);
	const inspector = createInspector(world.system, options);
	const inspect = (request: SystemRequest): Outcome<unknown>[] => {
		const outcomes: Outcome<unknown>[] = [];
		inspector.inspect(request, outcome => outcomes.push(outcome));
		world.run();
		return outcomes;
	};
	return {
		...world,
		inspector,
		inspect,
		look(t, request) {
			const [outcome] = inspect(request);
			if (outcome?.ok !== true) return t.fail(outcome?.error.message ?? 'no answer');
			t.notThrows(() => JSON.stringify(outcome.value));
			return outcome.value as LookAnswer[(typeof request)['verb']];
		},
		refusal(request) {
			const [outcome] = inspect(request);
			return outcome === undefined ? 'no answer' : outcome.ok ? 'answered' : outcome.error.code;
		},
	};
}

/** The name of the stream that was opened. */
export function opened(t: ExecutionContext, outcomes: readonly Outcome<unknown>[]): string {
	const [outcome] = outcomes;
	return outcome?.ok === true ? (outcome.value as StreamOpened).stream : t.fail(JSON.stringify(outcome));
}

/** The portion that a reader was given, once what it waits for has happened. */
export function portionOf(
	t: ExecutionContext,
	outcomes: readonly Outcome<unknown>[],
	happens: () => void = () => undefined,
): StreamPortion {
	if (outcomes.length === 0) happens();
	const [outcome] = outcomes;
	return outcome?.ok === true ? (outcome.value as StreamPortion) : t.fail(JSON.stringify(outcome));
}
