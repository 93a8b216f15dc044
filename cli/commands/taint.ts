// `troupe taint`: what keeps pods off a node unless they tolerate it.

import {failedError, type Invocation, usageError} from '../command.js';
import {changeNode, chosenNames, dryRunText, nodeChoice, nodes, patchSpec} from '../objects/nodes.js';
import {oneByOne} from '../objects/one-by-one.js';
import {resourceOf} from '../cluster/resources.js';
import {withClient} from '../cluster/session.js';
import {changeTaints, contradictions, isTaintWord, parseTaint, type TaintChange} from '../objects/taints.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, terminal} = invocation;
	const {names, changes} = readWords(invocation.inputs);
	const choice = nodeChoice('taint nodes', names, flags, flags.on('all'));
	const dryRun = flags.on('dry-run');
	return withClient(invocation, async client => {
		const taint = (name: string): Promise<void> =>
			changeNode(client, name, async node => {
				const changed = changeTaints(node.spec?.taints ?? [], changes, flags.on('overwrite'));
				if (!changed.ok) throw failedError(changed.problems.map(problem => `node "${name}": ${problem}`).join('\n'));
				if (changed.word !== 'unchanged')
					await patchSpec(client, node, {taints: changed.taints.length === 0 ? null : changed.taints}, dryRun);
				terminal.out(`node/${name} ${changed.word}${dryRunText(dryRun)}\n`);
			});
		return oneByOne(await chosenNames(client, choice), taint, terminal);
	});
}

/** `nodes a b key:NoSchedule`, or `node/a key:NoSchedule`. Throws ERR_USAGE with every problem. */
function readWords(words: readonly string[]): {readonly names: readonly string[]; readonly changes: readonly TaintChange[]} {
	const [first = ''] = words;
	const rest = first.includes('/') ? words : words.slice(1);
	if (first === '' || isTaintWord(first)) throw usageError('the nodes come first, as in: troupe taint nodes node-a gpu=yes:NoSchedule');
	if (resourceOf(first.split('/')[0] ?? '') !== nodes) throw usageError(`only nodes have taints, not ${first}`);
	const at = rest.findIndex(isTaintWord);
	if (at < 0) throw usageError('a taint is missing, as in: troupe taint nodes node-a gpu=yes:NoSchedule');
	const read = rest.slice(at).map(parseTaint);
	const changes = read.flatMap(change => (typeof change === 'string' ? [] : [change]));
	const problems = [...read.filter(change => typeof change === 'string'), ...contradictions(changes)];
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return {names: rest.slice(0, at), changes};
}
