// Objects as commands that change some of a kind take them: by name, by label, or all of them.

import type {Client} from '../client.js';
import {listAll} from '../cluster/lists.js';
import {readTargets, type Resource} from '../cluster/resources.js';
import {namespaceOf} from '../cluster/session.js';
import {type Invocation, usageError} from '../command.js';

/** One object, as a path names it. */
export type NamedObject = {readonly resource: Resource; readonly namespace: string; readonly name: string};

/** What was chosen; one that was named alone is shown as itself, not as a list of one. */
export type ChosenObjects = {readonly objects: readonly NamedObject[]; readonly isOne: boolean};

/** What the words and the flags choose. Throws ERR_USAGE unless names, `-l` or `--all` says which; `asking` begins the question. */
export async function chosenObjects(
	invocation: Invocation,
	client: Client,
	words: readonly string[],
	asking = 'which',
): Promise<ChosenObjects> {
	const {flags} = invocation;
	const selector = flags.text('selector');
	const chooses = flags.on('all') || selector !== undefined;
	const everywhere = flags.on('all-namespaces');
	const namespace = namespaceOf(invocation, client);
	const found = await Promise.all(
		readTargets(words).map(async ({resource, names}): Promise<readonly NamedObject[]> => {
			if (names.length > 0 && (chooses || everywhere)) throw usageError('names, --all and -l each say which objects; give one of them');
			if (names.length > 0) return names.map(name => ({resource, namespace, name}));
			if (!chooses) throw usageError(`${asking} ${resource.plural}? give names, -l, or --all`);
			const objects = await listAll(client, resource, everywhere ? undefined : namespace, {labelSelector: selector});
			return objects.map(({metadata}) => ({resource, namespace: metadata.namespace ?? namespace, name: metadata.name}));
		}),
	);
	const objects = found.flat();
	return {objects, isOne: objects.length === 1 && !chooses};
}
