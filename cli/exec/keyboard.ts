// A terminal that hands every key to a program elsewhere: Ctrl-C is a byte like any other, and nothing is echoed or waited for.
//
// However this process ends, short of SIGKILL, the terminal is as it was before.

import type {Readable} from 'node:stream';

type Keys = Readable & {readonly isTTY: true; readonly setRawMode: (on: boolean) => unknown};

const hasKeys = (input: Readable): input is Keys => 'isTTY' in input && input.isTTY === true && 'setRawMode' in input;

/** Whether a person types there. */
export const isKeyboard = (input: Readable): boolean => hasKeys(input);

/** The exit code of a shell for a program that a signal ended. */
const endings = {SIGTERM: 143, SIGHUP: 129, SIGQUIT: 131} as const;

/** Takes every key as it is until what is returned is called. */
export function takeKeys(input: Readable): () => void {
	if (!hasKeys(input)) return () => undefined;
	const give = (): void => {
		// Who reads no more may have let go of it already.
		if (!input.destroyed) input.setRawMode(false);
	};
	const ends = Object.entries(endings).map(([signal, code]) => ({signal, end: () => process.exit(code)}));
	process.once('exit', give);
	for (const {signal, end} of ends) process.once(signal, end);
	input.setRawMode(true);
	return () => {
		process.off('exit', give);
		for (const {signal, end} of ends) process.off(signal, end);
		give();
	};
}
