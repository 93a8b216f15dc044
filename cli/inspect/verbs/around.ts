// Verbs of the shell itself: where one stands, what can be typed, and the way out.

import {address} from '../../../api/keys.js';
import {parsePlace} from '../../../api/inspect.js';
import {didYouMean} from '../../../api/suggest.js';
import {usageError} from '../../command.js';
import {overviewOf, verbHelp} from '../help-view.js';
import {root} from '../places.js';
import {resolve} from '../resolve.js';
import type {VerbRun} from '../verb.js';
import {findVerb} from '../verb-words.js';

export const cd: VerbRun = async ({inputs, shell}) => {
	const [word, ...more] = inputs;
	if (more.length > 0) throw usageError('cd goes to one place');
	const {place, hand} = await resolve(word ?? '/', shell);
	shell.memory.here = place;
	if (hand !== undefined) shell.terminal.note(`the record, ${place}; cd hand/${word?.split('/')[1] ?? ''} goes to its hand on its node`);
};

export const pwd: VerbRun = async ({shell}) => {
	const {here} = shell.memory;
	const parsed = here === root ? undefined : parsePlace(here);
	shell.terminal.out(`${parsed === undefined ? '/' : address(parsed.system, parsed.path)}\n`);
	return Promise.resolve();
};

export const help: VerbRun = async ({inputs, shell}) => {
	const [name] = inputs;
	const spec = name === undefined ? undefined : findVerb(name, shell.verbs);
	if (name !== undefined && spec === undefined)
		throw usageError(
			`unknown verb "${name}"${
				didYouMean(
					name,
					shell.verbs.map(each => each.name),
				) || '; help lists them'
			}`,
		);
	await shell.page(spec === undefined ? overviewOf(shell.verbs) : verbHelp(spec));
};

export const exit: VerbRun = async ({shell}) => {
	shell.exit();
	return Promise.resolve();
};
