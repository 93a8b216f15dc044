// `troupe completion`: the script that makes a shell complete the words of `troupe`.

import {didYouMean} from '../../api/suggest.js';
import {type Invocation, usageError} from '../command.js';
import {scripts, shells} from '../completion/scripts.js';

export function run({inputs, terminal}: Invocation): Promise<number> {
	const [word = '', ...more] = inputs;
	const shell = shells.find(each => each === word);
	if (shell === undefined || more.length > 0)
		throw usageError(
			word === ''
				? 'for which shell? troupe completion bash, zsh or fish'
				: `completion takes bash, zsh or fish, got "${inputs.join(' ')}"${didYouMean(word, shells)}`,
		);
	terminal.out(scripts[shell]);
	return Promise.resolve(0);
}
