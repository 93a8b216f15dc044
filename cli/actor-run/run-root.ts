// The root of a user's system: above the user's own actors, so that the first of them is supervised, too, and beside it what answers for the
// system when somebody looks into it. Pure.

import {inspector, spawnInspector} from '../../actors/inspector.js';
import {next, type Behavior, type DownReason, type Message} from '../../system/kernel/behavior.js';

/** The path of the first actor of a user's own. */
export const mainPath = 'main';

export type RunInput = {
	/** The name of its behaviour, and what its `init` is given. */
	readonly behavior: string;
	readonly input: unknown;
};

/** The first actor has ended for good. */
export type EndedCommand = {readonly type: 'ended'; readonly reason: DownReason};

const told = 'told';

export const runRoot: Behavior<RunInput, null, Message> = {
	kind: 'Run',
	init: ({behavior, input}) => next(null, [spawnInspector, {type: 'spawn', name: mainPath, behavior, input, restart: 'transient'}]),
	// Of all messages it knows only the answer to what it performs.
	receive: (state, {type}) => (type === told ? next(state) : undefined),
	signal(state, signal, {self}) {
		if (signal.type !== 'down' || signal.address !== `${self}${mainPath}`) return next(state);
		const command: EndedCommand = {type: 'ended', reason: signal.reason};
		return next(state, [{type: 'perform', command, key: 'ended', as: told}]);
	},
};

/** Names of behaviours that each such system has. */
export const ownKinds: readonly string[] = [runRoot.kind, inspector.kind];
