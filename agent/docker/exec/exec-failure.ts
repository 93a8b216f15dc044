// What an Engine writes into the output of a program of exec that could not be started, in the words and with the codes of every runtime.

export type ExecFailure = {readonly message: string; readonly exitCode: number};

const beginning = 'OCI runtime exec failed: ';

/** Whether this first output may be such words. A program may write the same. */
export const mayBeFailure = (data: Buffer): boolean => data.toString('latin1', 0, beginning.length) === beginning;

/** Of a program that never had a process. A word that is no program ends with 127, what else does not start with 126, as in a shell. */
export function failureOf(said: string): ExecFailure {
	const text = said
		.trim()
		.replace(prefixes, '')
		.replace(/: unknown$/, '');
	const plain = text.replace(/: stat [^:]*: (no such file or directory)$/, ': $1');
	const isWord = plain.startsWith('exec: ');
	const isMissing = isWord && /: (?:executable file not found in \$PATH|no such file or directory)$/.test(plain);
	return {message: isWord ? plain : `exec: ${plain}`, exitCode: isMissing ? 127 : 126};
}

/** By whom it went through whose hands. */
const prefixes =
	/^(?:(?:OCI runtime exec failed|exec failed|container_linux\.go:\d+|starting container process caused|unable to start container process): )+/;
