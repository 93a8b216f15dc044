// `get -o json|yaml|name`: whole objects, all at once or as they change.

import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {withKind, type List} from '../cluster/lists.js';
import {asName, asText, asYaml, listOf} from '../objects/output.js';
import {pathOf, type Resource, type Target} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {watch} from '../cluster/watch.js';
import {exitCodeOf, search, selectorsFor, type Search} from './search.js';

type Whole = 'json' | 'yaml' | 'name';

/** Prints what the search finds; answers with the exit code. */
export async function showObjects(client: Client, wanted: Search, format: Whole, terminal: Terminal): Promise<number> {
	const found = await search<ApiObject | List>(client, wanted, 'application/json', terminal);
	const objects = found.flatMap(({target, answers}) =>
		answers.flatMap(answer =>
			('items' in answer ? (answer.items ?? []) : [answer as ApiObject]).map(object => ({
				resource: target.resource,
				object: withKind(object, target.resource),
			})),
		),
	);
	const [only] = objects;
	const exitCode = exitCodeOf(found);
	const isOne = wanted.targets.length === 1 && wanted.targets[0]?.names.length === 1;
	if (format === 'name') objects.forEach(({resource, object}) => terminal.out(asName(resource, object)));
	else if (isOne && only !== undefined) terminal.out(await asText(only.object, format));
	else if (!isOne) terminal.out(await asText(listOf(objects.map(({object}) => object)), format));
	return exitCode;
}

/** Prints what there is and then each change, one document each, until the server ends the watch. */
export async function watchObjects(client: Client, wanted: Search, target: Target, format: Whole, terminal: Terminal): Promise<number> {
	const path = pathOf(target.resource, wanted.namespace);
	const query = selectorsFor(wanted, target);
	const list = (await client.json({path, query})) as List;
	for (const object of list.items ?? []) terminal.out(await document(target.resource, object, format));
	for await (const {object} of watch(client, {path, query: {...query, resourceVersion: list.metadata?.resourceVersion}}))
		terminal.out(await document(target.resource, object as ApiObject, format));
	return 0;
}

async function document(resource: Resource, object: ApiObject, format: Whole): Promise<string> {
	const full = withKind(object, resource);
	switch (format) {
		case 'name':
			return asName(resource, full);
		case 'json':
			return JSON.stringify(full) + '\n';
		case 'yaml':
			return '---\n' + (await asYaml(full));
	}
}
