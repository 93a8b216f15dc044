// What `troupe __complete -- WORD…` answers to the scripts of the shells: `files` or `words` on the first line, then one candidate a line, with a tab
// and what it is. Silent about everything that goes wrong: a prompt is no place for errors.

import {findKind} from '../../api/catalogue.js';
import {limits} from '../../api/limits.js';
import type {ActorTree} from '../../api/inspect.js';
import type {Client} from '../client.js';
import type {CommandSpec, Invocation, Run} from '../command.js';
import type {Table} from '../cluster/lists.js';
import {inOneLine} from '../screen/table.js';
import {placeOf, type Asked, type Candidate, type Place} from './place.js';

/** The command, for a shell that completes the words of these commands. */
export const completing =
	(commands: readonly CommandSpec[]): Run =>
	invocation =>
		complete(invocation, commands);

async function complete(invocation: Invocation, commands: readonly CommandSpec[]): Promise<number> {
	const {afterDashes: typed = [], terminal} = invocation;
	const place = placeOf(typed, commands);
	const current = typed.at(-1) ?? '';
	const asked = place.asked === undefined ? [] : await answered(place.asked, place, invocation).catch(() => []);
	const fitting = [...place.words, ...asked].filter(({word}) => word.startsWith(current) && isPlain(word)).slice(0, limits.completions);
	const isFile = place.files && fitting.length === 0;
	terminal.out(
		[isFile ? 'files' : 'words', ...fitting.map(({word, about}) => (about === '' ? word : `${word}\t${inOneLine(about)}`)), ''].join('\n'),
	);
	return 0;
}

/** Names are such words anyway; nothing else is ever handed to a shell. */
const isPlain = (word: string): boolean => /^[\w./:=@,+-]*$/.test(word);

async function answered(asked: Asked, place: Place, invocation: Invocation): Promise<readonly Candidate[]> {
	const words = asked.type === 'fields' ? await fieldsBelow(asked.word) : await askCluster(asked, place, invocation);
	return words.map(({word, about}) => ({word: asked.before + word + asked.after, about}));
}

/** `pod.spec.` becomes `pod.spec.containers` and the others. */
async function fieldsBelow(word: string): Promise<readonly Candidate[]> {
	const [{explain}, {default: descriptions}] = await Promise.all([import('../objects/explain.js'), import('../../api/descriptions.cjs')]);
	const [kindWord = '', ...path] = word.split('.').slice(0, -1);
	const kind = findKind(kindWord);
	if (kind === undefined) return [];
	const explained = explain(descriptions, kind, path, 1);
	const fields = explained.ok ? (explained.value.fields ?? []) : [];
	return fields.map(({name, type}) => ({word: [kindWord, ...path, name].join('.'), about: type}));
}

async function askCluster(asked: Exclude<Asked, {type: 'fields'}>, {flags}: Place, invocation: Invocation): Promise<readonly Candidate[]> {
	const [{clientOf}, {readConnection, sourcesOf}, {homeRoot}, {deadlineOf}] = await Promise.all([
		import('../client.js'),
		import('../cluster/kubeconfig.js'),
		import('../files/home.js'),
		import('../objects/wait.js'),
	]);
	const {environment} = invocation;
	const folder = environment['HOME'] ?? '';
	/** The shell has not expanded it yet. */
	const expanded = (path: string | undefined) => path?.replace(/^~(?=\/)/, folder);
	const home = homeRoot('get', expanded(flags['home']), environment['TROUPE_HOME'], folder);
	const sources = sourcesOf({kubeconfig: expanded(flags['kubeconfig']), home: flags['home']}, environment, home);
	const connection = await readConnection(sources, limits.completeMs);
	const client = clientOf(connection);
	try {
		const namespace = flags['namespace'] ?? connection.namespace;
		const {signal} = deadlineOf(`${limits.completeMs}ms`);
		if (asked.type === 'actors') return await actors(client, asked.place, signal);
		return asked.type === 'names'
			? await names(client, asked, flags['all-namespaces'] === 'true' ? undefined : namespace, signal)
			: await containers(client, asked.pod, namespace, signal);
	} finally {
		client.close();
	}
}

/** By a table without the objects: that is the shortest answer there is. */
async function names(client: Client, {kind, without}: Extract<Asked, {type: 'names'}>, namespace: string | undefined, signal: AbortSignal) {
	const [{pathOf}, {tableAccept}] = await Promise.all([import('../cluster/resources.js'), import('../cluster/lists.js')]);
	const {columnDefinitions, rows} = (await client.json({
		path: pathOf(kind, namespace),
		query: {includeObject: 'None'},
		accept: tableAccept,
		signal,
	})) as Table;
	const status = (columnDefinitions ?? []).findIndex(({name}) => name === 'Status');
	const textOf = (cell: unknown): string => (typeof cell === 'string' ? cell : '');
	return (rows ?? [])
		.map(({cells}) => ({word: textOf(cells[0]), about: textOf(cells[status])}))
		.filter(({word}) => !without.includes(word) && !without.includes(`${kind.singular}/${word}`));
}

async function containers(client: Client, pod: string, namespace: string, signal: AbortSignal): Promise<readonly Candidate[]> {
	if (pod === '') return [];
	const [{pathOf}, {pod: kind}] = await Promise.all([import('../cluster/resources.js'), import('../../api/kinds/pod.js')]);
	const path = pathOf(kind, namespace, pod);
	const {spec} = (await client.json({path, signal})) as {
		readonly spec?: {readonly [list: string]: readonly {readonly name?: string; readonly image?: string}[] | undefined};
	};
	const all = [...(spec?.['containers'] ?? []), ...(spec?.['initContainers'] ?? [])];
	return all.map(({name = '', image = ''}) => ({word: name, about: image}));
}

/** Systems, or the actors directly below a place; those that have some themselves go on. */
async function actors(client: Client, place: string, signal: AbortSignal): Promise<readonly Candidate[]> {
	const {actorsPath} = await import('../../api/inspect.js');
	if (place === '') {
		const {items} = (await client.json({path: actorsPath, query: {depth: 0}, signal})) as {
			readonly items: readonly {metadata: {name: string}}[];
		};
		return items.map(({metadata: {name}}) => ({word: `${name}/`, about: ''}));
	}
	const path = [actorsPath, ...place.split('/').map(encodeURIComponent)].join('/');
	const {children} = (await client.json({path, query: {verb: 'tree', depth: 1, children: limits.completions}, signal})) as ActorTree;
	return children.map(({name, childCount, trouble, about}) => ({word: childCount > 0 ? `${name}/` : name, about: trouble ?? about}));
}
