// One line of the inspector: its verb is found, its words are read, its work is done. Typed, scripted, or as `troupe actor`.

import {usageError} from '../command.js';
import {parseArguments} from '../command-line/arguments.js';
import {interruptible, isInterrupted} from './interruptible.js';
import {parseLine} from './line.js';
import {verbHelp} from './help-view.js';
import {columnsOf} from './printing.js';
import type {Shell, VerbSpec} from './verb.js';
import {commandOf, findVerb, unknownVerb, verbFlags} from './verb-words.js';

/** Runs a line. An empty one, or a comment, does nothing. Throws AppError. */
export async function runLine(line: string, shell: Shell, signal: AbortSignal): Promise<void> {
	const {words, open} = parseLine(line);
	if (open !== undefined)
		throw usageError(open === 'quote' ? 'a quote is not closed; \\ in front makes it a letter' : 'a bracket is not closed');
	await runWords(
		words.map(({text}) => text),
		shell,
		signal,
	);
}

/** The same of words that were read already. */
export async function runWords(words: readonly string[], shell: Shell, signal: AbortSignal): Promise<void> {
	const [name, ...rest] = words;
	if (name === undefined) return;
	const found = findVerb(name, shell.verbs);
	const spec = found ?? (isPlaceWord(name) ? findVerb('cd', shell.verbs) : undefined);
	if (spec === undefined) throw unknownVerb(name, shell.verbs);
	const {flags, inputs} = await parseArguments(found === undefined ? words : rest, flagsOf(spec));
	if (flags.on('help')) return shell.page(verbHelp(spec, commandOf(shell), columnsOf(shell)));
	const {run} = await spec.load();
	const namespace = flags.text('namespace') ?? shell.namespace;
	try {
		await run({spec, inputs, flags, shell: {...shell, session: interruptible(shell.session, signal), namespace}, signal});
	} catch (error) {
		if (!isInterrupted(error)) throw error;
	}
}

/** A place alone is as good as `cd` there. */
const isPlaceWord = (word: string): boolean => word.includes('/') || word === '..';

const helpFlag = {help: {type: 'boolean', short: 'h', about: 'what it does and takes'}} as const;

export const flagsOf = (spec: VerbSpec) => ({...spec.flags, ...verbFlags, ...helpFlag});
