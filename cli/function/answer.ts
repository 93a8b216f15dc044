// What a function has answered, for people.

import type {IncomingMessage} from 'node:http';
import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import {parsedJson} from '../../api/value-or.js';
import {isStatus} from '../cluster/status-error.js';
import {failedError, type Invocation} from '../command.js';
import {readBounded, reasonOf} from '../files/bounded-file.js';

/** Its body as it comes. JSON gets a line end where there is none, so that a prompt stands on a line of its own. */
export async function pour(terminal: Invocation['terminal'], answer: IncomingMessage): Promise<void> {
	let last: number | undefined;
	try {
		for await (const piece of answer) {
			const bytes = piece as Uint8Array;
			last = bytes.at(-1) ?? last;
			await terminal.pour(bytes);
		}
	} catch {
		throw failedError('the answer was cut off: the function failed before its end, or its time was over');
	}
	const isText = /^application\/json\b/.test(answer.headers['content-type'] ?? '') || terminal.outIsTerminal;
	if (isText && last !== newline) terminal.out('\n');
}

const newline = 0x0a;

export type AnsweredError = {
	/** In words. */
	readonly message: string;
	/** Where the function threw. */
	readonly traceback: string | undefined;
	/** It is the cluster that says so, and not the function: a Status. */
	readonly status: unknown;
};

/** The error that an answer is. */
export async function errorIn(answer: IncomingMessage): Promise<AnsweredError> {
	const code = `the function answered with ${answer.statusCode ?? 0}`;
	const only = (message: string): AnsweredError => ({message, traceback: undefined, status: undefined});
	try {
		const text = (await readBounded(answer, limits.functionAnswerBytes)).toString();
		const said = parsedJson(text);
		if (isStatus(said)) return {...only(said.message ?? code), status: said};
		const error = isObject(said) && isObject(said['error']) ? said['error'] : {};
		const {message, traceback} = error;
		if (typeof message !== 'string') return only(`${code}: ${text.slice(0, limits.warningCharacters)}`);
		return {...only(message), traceback: typeof traceback === 'string' ? traceback : undefined};
	} catch (error) {
		return only(`${code}, and no more can be shown: ${reasonOf(error)}`);
	}
}
