// `troupe exec`: a program beside a container's, with this terminal as its own.

import {type Invocation, usageError} from '../command.js';
import {isKeyboard} from '../exec/keyboard.js';
import {runRemote} from '../exec/run-remote.js';
import {findTarget, podNameOf} from '../exec/target.js';
import {namespaceOf, withClient} from '../cluster/session.js';

/** The exit code is the program's. */
export async function run(invocation: Invocation): Promise<number> {
	const {flags, terminal} = invocation;
	const {pod, command} = wordsOf(invocation);
	const stdin = flags.on('stdin');
	const tty = flags.on('tty') && ttyFits(invocation, stdin);
	return withClient(invocation, async client => {
		const wanted = {namespace: namespaceOf(invocation, client), pod, container: flags.text('container')};
		const {namespace, container} = await findTarget(client, terminal, wanted);
		return runRemote(client, terminal, {namespace, pod, container: container.name, deed: 'exec', command, stdin, tty});
	});
}

/** `POD -- WORD...`. Without the dashes a flag of the program would be taken for one of ours. */
function wordsOf({inputs, afterDashes}: Invocation): {readonly pod: string; readonly command: readonly string[]} {
	const before = inputs.slice(0, inputs.length - (afterDashes?.length ?? 0));
	const [pod, ...more] = before;
	if (pod === undefined) throw usageError('which pod? as in: troupe exec web -- ls -l');
	if (afterDashes === undefined && more.length > 0)
		throw usageError(`the program comes after --, as in: troupe exec ${pod} -- ${more.join(' ')}`);
	if (more.length > 0) throw usageError(`exec takes one pod, got ${before.join(' ')}; a container is named with -c`);
	if (afterDashes === undefined || afterDashes.length === 0) throw usageError(`which program? as in: troupe exec -it ${pod} -- sh`);
	return {pod: podNameOf(pod, 'exec'), command: afterDashes};
}

/** A terminal is of use only to a person who types. */
function ttyFits({terminal}: Invocation, stdin: boolean): boolean {
	if (!stdin || isKeyboard(terminal.input)) return true;
	terminal.note('note: -t is left out, since the input is no terminal');
	return false;
}
