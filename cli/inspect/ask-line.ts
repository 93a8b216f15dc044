// A question on a terminal, answered by `y` or `yes`.

import {createInterface} from 'node:readline';

/** Whether an answer says yes; all else says no. */
export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim());

/** False, too, when the signal fires or the input ends. */
export function askLine(question: string, signal: AbortSignal): Promise<boolean> {
	const reader = createInterface({input: process.stdin, output: process.stdout});
	return new Promise(resolve => {
		reader.once('close', () => resolve(false));
		reader.once('SIGINT', () => reader.close());
		reader.question(question, {signal}, answer => {
			resolve(isYes(answer));
			reader.close();
		});
	});
}
