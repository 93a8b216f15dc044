// What a runtime does for each command, one function a type: a command without one does not compile.

import type {Outcome} from '../api/errors.js';
import type {RuntimeCommand, RuntimeResults} from '../actors/node/runtime/runtime-port.js';
import {systemFailure} from './os/explained.js';

export type Done<Value> = (outcome: Outcome<Value>) => void;

export type Handlers = {
	readonly [Type in RuntimeCommand['type']]: (command: Extract<RuntimeCommand, {type: Type}>, done: Done<RuntimeResults[Type]>) => void;
};

/** Runs the function of the command. That type and function go together is in `Handlers`; the compiler loses it in the look-up. */
export function handle(handlers: Handlers, command: RuntimeCommand, done: Done<never>): void {
	(handlers[command.type] as (command: RuntimeCommand, done: Done<never>) => void)(command, done);
}

/** Where only some are done here: false for the others. */
export function handleSome(handlers: Partial<Handlers>, command: RuntimeCommand, done: Done<never>): boolean {
	const handler = handlers[command.type] as ((command: RuntimeCommand, done: Done<never>) => void) | undefined;
	handler?.(command, done);
	return handler !== undefined;
}

/** What is thrown before there is an answer becomes one; what comes after it is the caller's. */
export function answering<Value>(done: Done<Value>, run: (answer: Done<Value>) => void): void {
	let answered = false;
	try {
		run(outcome => {
			answered = true;
			done(outcome);
		});
	} catch (error) {
		if (answered) throw error;
		done(systemFailure(error));
	}
}
