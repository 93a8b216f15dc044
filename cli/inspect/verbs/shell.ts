// Verbs of the shell itself: where one stands, what can be typed, and the way out.

import {usageError} from '../../command.js';
import {overviewOf, verbHelp} from '../help-view.js';
import {shownPlace} from '../places.js';
import {noteHand, resolve} from '../resolve.js';
import {columnsOf} from '../printing.js';
import type {VerbRun} from '../verb.js';
import {commandOf, findVerb, unknownVerb} from '../verb-words.js';

export const cd: VerbRun = async ({inputs, shell}) => {
	const [word, ...more] = inputs;
	if (more.length > 0) throw usageError('cd goes to one place');
	const {place, hand} = await resolve(word ?? '/', shell);
	shell.memory.here = place;
	if (hand !== undefined && word !== undefined) await noteHand(word, hand, shell);
};

export const pwd: VerbRun = async ({shell}) => {
	shell.terminal.out(`${shownPlace(shell.memory.here)}\n`);
	return Promise.resolve();
};

export const help: VerbRun = async ({inputs, shell}) => {
	const [name] = inputs;
	const spec = name === undefined ? undefined : findVerb(name, shell.verbs);
	if (name !== undefined && spec === undefined) throw unknownVerb(name, shell.verbs);
	const columns = columnsOf(shell);
	await shell.page(spec === undefined ? overviewOf(shell.verbs, columns) : verbHelp(spec, commandOf(shell), columns));
};

export const exit: VerbRun = async ({shell}) => {
	shell.exit();
	return Promise.resolve();
};
