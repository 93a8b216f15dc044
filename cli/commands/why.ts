// `troupe why`: why one object is as it is.

import {clusterScope} from '../../api/keys.js';
import {type Invocation, usageError} from '../command.js';
import {printedWhole} from '../objects/output.js';
import {displayName, readTargets} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {widthFor} from '../screen/text-width.js';
import {tellWhy, type Why} from '../objects/why-story.js';

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, terminal, flags} = invocation;
	const [target, ...more] = readTargets(inputs);
	const [name, ...others] = target?.names ?? [];
	if (target === undefined || name === undefined || more.length + others.length > 0)
		throw usageError('why tells of one object, as in: troupe why pod hello-1');
	return withClient(invocation, async client => {
		const scope = target.resource.namespaced ? namespaceOf(invocation, client) : clusterScope;
		const path = ['/troupe/v1/why', target.resource.plural, scope, name]
			.map((part, at) => (at === 0 ? part : encodeURIComponent(part)))
			.join('/');
		const why = (await client.json({path})) as Why;
		if (await printedWhole(invocation, why)) return 0;
		const texts = [
			...why.chain.map(({about}) => about),
			...why.journal.flatMap(({cause, from}) => [cause, from]),
			...why.events.map(({message}) => message),
		];
		const shown = {commits: flags.on('commits'), all: flags.on('all')};
		terminal.out(tellWhy(displayName(target.resource, name), why, shown, await widthFor(texts), terminal.colours));
		return 0;
	});
}
