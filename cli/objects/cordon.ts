// Whether a node takes new pods.

import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {changeNode, chosenNames, dryRunText, nodeChoice, patchSpec} from './nodes.js';
import {oneByOne} from './one-by-one.js';
import {withClient} from '../cluster/session.js';

const words = {cordon: 'cordoned', uncordon: 'uncordoned'} as const;

/** `cordon` and `uncordon`. */
export async function runCordon(verb: 'cordon' | 'uncordon', {inputs, flags, terminal, ...rest}: Invocation): Promise<number> {
	const choice = nodeChoice(verb, inputs, flags);
	const dryRun = flags.on('dry-run');
	return withClient({inputs, flags, terminal, ...rest}, async client => {
		const names = await chosenNames(client, choice);
		return oneByOne(names, async name => terminal.out(`${await setCordon(client, name, verb, dryRun)}\n`), terminal);
	});
}

/** Answers with the line that tells what became of it: `node/a cordoned`, `node/a already cordoned`. */
export const setCordon = (client: Client, name: string, verb: 'cordon' | 'uncordon', dryRun: boolean): Promise<string> =>
	changeNode(client, name, async node => {
		const isCordoned = node.spec?.unschedulable === true;
		const wanted = verb === 'cordon';
		if (isCordoned === wanted) return `node/${name} already ${words[verb]}${dryRunText(dryRun)}`;
		await patchSpec(client, node, {unschedulable: wanted ? true : null}, dryRun);
		return `node/${name} ${words[verb]}${dryRunText(dryRun)}`;
	});
