// Lines that no person types: of `--command`, or of stdin. The first that fails ends them, with its exit code.

import type {Readable} from 'node:stream';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import {usageError} from '../command.js';
import {runLine} from './run-line.js';
import type {Shell} from './verb.js';

/** Runs the lines one after the other, until `exit`. Throws what the first one that fails throws, with its number in front. */
export async function runScript(
	lines: AsyncIterable<string> | readonly string[],
	shell: Shell,
	isOver: () => boolean,
	signal: AbortSignal,
): Promise<void> {
	let number = 0;
	for await (const line of lines) {
		number++;
		try {
			await runLine(line, shell, signal);
		} catch (error) {
			if (error instanceof AppError) error.message = `line ${number}: ${error.message}`;
			throw error;
		}
		if (isOver() || signal.aborted) return;
	}
}

/** The lines of a stream as they come. Throws ERR_USAGE where one is longer than any that could be meant. */
export async function* linesOf(input: Readable): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	let rest = '';
	for await (const chunk of input) {
		const lines = (rest + decoder.decode(chunk as Uint8Array, {stream: true})).split('\n');
		rest = lines.pop() ?? '';
		if (rest.length > limits.inspectLineCharacters) throw usageError(`a line has more than ${limits.inspectLineCharacters} characters`);
		yield* lines;
	}
	if (rest !== '') yield rest;
}
