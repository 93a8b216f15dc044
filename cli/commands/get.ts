// `troupe get`: tables made by the server, whole objects, or changes as they come.

import type {Client} from '../client.js';
import {type Invocation, usageError} from '../command.js';
import {isArtifacts, showArtifacts} from '../get/artifacts.js';
import {canBeLive, watchLive} from '../get/live.js';
import {showObjects, watchObjects} from '../get/objects.js';
import type {Search} from '../get/search.js';
import {showTables, watchTable} from '../get/table.js';
import {readTargets} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	if (isArtifacts(inputs)) return showArtifacts(invocation);
	const targets = readTargets(inputs);
	const named = targets.some(({names}) => names.length > 0);
	if (named && flags.on('all-namespaces')) throw usageError('a name is one of one namespace; give -n instead of -A');
	if (named && (flags.text('selector') ?? flags.text('field-selector')) !== undefined)
		throw usageError('a selector chooses among all objects of a kind; leave out the names');
	return withClient(invocation, async client => {
		const search: Search = {
			targets,
			namespace: flags.on('all-namespaces') ? undefined : namespaceOf(invocation, client),
			labelSelector: flags.text('selector'),
			fieldSelector: flags.text('field-selector'),
			ignoreNotFound: flags.on('ignore-not-found'),
			format: (flags.text('output') ?? 'table') as Search['format'],
		};
		if (flags.on('watch')) return watchOne(client, search, terminal);
		return search.format === 'table' || search.format === 'wide'
			? showTables(client, search, terminal)
			: showObjects(client, search, search.format, terminal);
	});
}

function watchOne(client: Client, search: Search, terminal: Invocation['terminal']): Promise<number> {
	const [target, ...more] = search.targets;
	if (target === undefined || more.length > 0 || target.names.length > 1)
		throw usageError('-w watches one kind, or one object of it; start one watch for each');
	const {screen} = terminal;
	if (search.format !== 'table' && search.format !== 'wide') return watchObjects(client, search, target, search.format, terminal);
	return screen !== undefined && canBeLive(target.resource)
		? watchLive(client, search, target, terminal, screen)
		: watchTable(client, search, target, terminal);
}
