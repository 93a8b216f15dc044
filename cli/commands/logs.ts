// `troupe logs`: what a container wrote, byte for byte.

import type {Pod} from '../../api/kinds/pod.js';
import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {getOne} from '../lists.js';
import {pathOf, readTarget, resourceOf} from '../resources.js';
import {namespaceOf, withClient} from '../session.js';
import type {Terminal} from '../terminal.js';
import {usageError} from '../usage.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, terminal} = invocation;
	const name = podName(invocation);
	const tail = flags.number('tail');
	if (tail !== undefined && (!Number.isSafeInteger(tail) || tail < -1))
		throw usageError(`--tail must be a whole number of lines, got ${tail}`);
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const container = flags.text('container') ?? (await firstContainer(client, namespace, name, terminal));
		const bytes = await client.stream({
			path: pathOf(resourceOf('pods'), namespace, name, 'log'),
			query: {
				container,
				...(flags.on('follow') ? {follow: true} : {}),
				...(flags.on('previous') ? {previous: true} : {}),
				...(tail === undefined || tail < 0 ? {} : {tailLines: tail}),
			},
			accept: 'text/plain, */*',
		});
		for await (const chunk of bytes) await terminal.pour(chunk);
		return 0;
	});
}

/** `NAME`, `pod NAME` or `pod/NAME`. */
function podName({inputs}: Invocation): string {
	const [first, second, ...more] = inputs;
	if (first === undefined) throw usageError('which pod? as in: troupe logs hello-1');
	if (more.length > 0) throw usageError('logs shows one pod; a container is named with -c');
	const word = second === undefined ? first : `${first}/${second}`;
	if (!word.includes('/')) return word;
	const {resource, names} = readTarget(word);
	if (resource.kind !== 'Pod') throw usageError(`logs are those of a pod, not of a ${resource.singular}; troupe get pods lists them`);
	return names[0] ?? '';
}

/** The first container; when there are others, a person is told which one it is. */
async function firstContainer(client: Client, namespace: string, name: string, terminal: Terminal): Promise<string | undefined> {
	const pod = (await getOne(client, resourceOf('pods'), namespace, name)) as Pod;
	const names = (pod.spec?.containers ?? []).map(container => container.name);
	if (names.length > 1) terminal.note(`showing container "${names[0] ?? ''}" of: ${names.join(', ')}; choose with -c`);
	return names[0];
}
