// Where commands of actors become calls of the runtime: a closed list of types, anything else is an answer and not a crash.

import {failed, type Outcome} from '../../api/errors.js';
import type {Command, Effect} from '../../system/behavior.js';
import type {Runtime, RuntimeCommand} from './runtime-port.js';

/** Asks for a command of the runtime; its outcome comes back as `{type: as, id: key, outcome}`. */
export const perform = (command: RuntimeCommand, key: string, as: string, deadlineMs?: number): Effect => ({
	type: 'perform',
	command,
	key,
	as,
	...(deadlineMs === undefined ? {} : {deadlineMs}),
});

const types: Readonly<Record<RuntimeCommand['type'], true>> = {
	'sandbox.ensure': true,
	'sandbox.remove': true,
	'sandbox.list': true,
	'container.start': true,
	'container.inspect': true,
	'container.stop': true,
	'logs.read': true,
};

const isRuntimeCommand = (command: Command): command is RuntimeCommand => Object.hasOwn(types, command.type);

/** What the interpreter calls for a `perform`. Answers once, with ERR_INTERNAL for a command that no runtime knows. */
export const performFor =
	(runtime: Runtime) =>
	(command: Command, done: (outcome: Outcome<unknown>) => void): void => {
		if (isRuntimeCommand(command)) runtime.run(command, done);
		else done(failed('ERR_INTERNAL', {message: `no runtime knows the command "${command.type}"`}));
	};
