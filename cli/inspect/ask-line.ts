// A question on a terminal, answered by `y` or `yes`.

import {createInterface} from 'node:readline';

/** False, too, when the signal fires or the input ends. */
export function askLine(question: string, signal: AbortSignal): Promise<boolean> {
	const reader = createInterface({input: process.stdin, output: process.stdout});
	return new Promise(resolve => {
		reader.once('close', () => resolve(false));
		reader.once('SIGINT', () => reader.close());
		reader.question(question, {signal}, answer => {
			resolve(/^y(es)?$/i.test(answer.trim()));
			reader.close();
		});
	});
}
