// `troupe node`: what people know of nodes and the cluster cannot.

import {didYouMean} from '../../api/suggest.js';
import {type Invocation, usageError} from '../command.js';
import {withClient} from '../cluster/session.js';

const verbs = ['confirm-lost'];

export async function run(invocation: Invocation): Promise<number> {
	const [verb = '', name, ...more] = invocation.inputs;
	if (!verbs.includes(verb))
		throw usageError(
			verb === ''
				? 'node takes what to do, as in: troupe node confirm-lost node-a'
				: `unknown verb "${verb}" of node${didYouMean(verb, verbs)}`,
		);
	if (name === undefined || more.length > 0) throw usageError('confirm-lost takes one node, as in: troupe node confirm-lost node-a');
	return withClient(invocation, async client => {
		await client.json({method: 'POST', path: `/troupe/v1/nodes/${encodeURIComponent(name)}/confirm-lost`});
		invocation.terminal.out(`node/${name} confirmed as lost; its pods are replaced\n`);
		return 0;
	});
}
