// `troupe attach`: what a container writes from now on, and with -i what is typed here as its input.

import {type Invocation, usageError} from '../command.js';
import {isKeyboard} from '../exec/keyboard.js';
import {runRemote} from '../exec/run-remote.js';
import {findTarget, podNameOf} from '../exec/target.js';
import {namespaceOf, withClient} from '../cluster/session.js';

/** Ends with the container, or with Ctrl-C, which leaves the container alone unless it has a terminal of its own. */
export async function run(invocation: Invocation): Promise<number> {
	const {inputs, flags, terminal} = invocation;
	const [word, ...more] = inputs;
	if (word === undefined) throw usageError('which pod? as in: troupe attach web');
	if (more.length > 0) throw usageError(`attach takes one pod, got ${inputs.join(' ')}; a container is named with -c`);
	const pod = podNameOf(word, 'attach');
	const stdin = flags.on('stdin');
	return withClient(invocation, async client => {
		const wanted = {namespace: namespaceOf(invocation, client), pod, container: flags.text('container')};
		const {namespace, container} = await findTarget(client, terminal, wanted);
		if (stdin && container.stdin !== true)
			throw usageError(
				`container "${container.name}" takes no input: "stdin: true" is missing in its spec; without -i attach only shows its output`,
			);
		const tty = flags.on('tty') && container.tty === true && isKeyboard(terminal.input);
		if (flags.on('tty') && !tty)
			terminal.note(`note: -t is left out, since ${container.tty === true ? 'the input is no terminal' : 'the container has none'}`);
		return runRemote(client, terminal, {namespace, pod, container: container.name, deed: 'attach', command: [], stdin, tty});
	});
}
