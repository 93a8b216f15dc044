// Ctrl-C while an answer is waited for: the question is given up, and the verb ends.

import {isChange, type ToolRequest} from '../../api/inspect.js';
import {failedError} from '../command.js';
import type {Session} from './session.js';

/** Of a question that only looks: whoever gave it up needs no word of it. */
class Interrupted extends Error {}

export const isInterrupted = (error: unknown): boolean => error instanceof Interrupted;

/** What a question ends with that was given up. */
export const interruption = (verb: ToolRequest['verb']): Error =>
	isChange(verb) ? failedError('it is not waited for any more; whether it was carried out is unknown') : new Interrupted();

/** The same session, where every question is given up when the signal fires. */
export const interruptible = (session: Session, signal: AbortSignal): Session => ({
	...session,
	get about() {
		return session.about;
	},
	ask: question => session.ask(question, signal),
	askAll: question => session.askAll(question, signal),
});

/** What a look comes to; rejects when the signal fires before. */
export function unlessGivenUp<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
	if (signal === undefined) return work;
	return new Promise((resolve, reject) => {
		const giveUp = (): void => reject(new Interrupted());
		signal.addEventListener('abort', giveUp);
		if (signal.aborted) giveUp();
		work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
	});
}
