// `troupe actor`: actors of a user's own.

import {type Invocation, usageError} from '../command.js';
import {didYouMean} from '../../api/suggest.js';

export async function run(invocation: Invocation): Promise<number> {
	const [verb = '', ...words] = invocation.inputs;
	if (verb === 'run') return (await import('../actor-run/run.js')).runActor(invocation, words);
	if (verb === '') throw usageError('actor takes what to do, as in: troupe actor run counter.mjs');
	throw usageError(`unknown verb "${verb}" of actor${didYouMean(verb, ['run']) || '; there is run'}`);
}
