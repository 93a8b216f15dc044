// How verbs print: in the form that was asked for, and as wide as the screen.

import {systemClock} from '../../system/time/clock.js';
import {asText} from '../objects/output.js';
import {widthFor, type WidthOf} from '../screen/text-width.js';
import type {LookView} from './look-table.js';
import type {Format, VerbCall} from './verb.js';

export const formatOf = ({flags, shell}: VerbCall): Format | undefined => (flags.text('output') as Format | undefined) ?? shell.format;

/** Columns of the terminal; undefined in a pipe, where lines are as long as they are. */
export const columnsOf = ({terminal}: Pick<VerbCall['shell'], 'terminal'>): number | undefined => terminal.screen?.columns();

/** How it looks where these texts are shown. */
export async function viewOf({shell}: VerbCall, texts: Iterable<string> = []): Promise<LookView & {readonly widthOf: WidthOf}> {
	return {columns: columnsOf(shell), widthOf: await widthFor(texts), colours: shell.terminal.colours, nowMs: systemClock.nowMs()};
}

/** The value whole where a form was asked for, else the text that is drawn of it. */
export async function show(call: VerbCall, value: unknown, draw: () => Promise<string> | string): Promise<void> {
	const format = formatOf(call);
	await call.shell.page(format === undefined ? await draw() : await asText(value, format));
}

/** One of a stream: a line in JSON, a document in YAML. */
export async function showEntry(call: VerbCall, format: Format, value: unknown): Promise<void> {
	call.shell.terminal.out(format === 'json' ? `${JSON.stringify(value)}\n` : `---\n${await asText(value, 'yaml')}`);
}
