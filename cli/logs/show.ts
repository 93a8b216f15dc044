// Logs as they are now, one container after the other.

import {AppError, rowOf} from '../../api/errors.js';
import type {Client} from '../client.js';
import {withNearest} from '../cluster/nearest.js';
import {getOne} from '../cluster/lists.js';
import {resourceOf} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {asState} from '../command.js';
import {listPods} from './pods.js';
import {containersOf, look, sinks} from './streams.js';
import type {LogWish, PodSearch} from './wish.js';
import type {Pod} from '../../api/kinds/pod.js';

/** Shows them all; what one container lacks is told beside the others. The exit code. */
export async function showLogs(
	client: Client,
	terminal: Terminal,
	namespace: string,
	searches: readonly PodSearch[],
	wish: LogWish,
): Promise<number> {
	const pods = (await Promise.all(searches.map(search => podsOf(client, namespace, search)))).flat();
	if (pods.length === 0) terminal.note(`note: there are no ${searches.map(({what}) => what).join(', ')} in namespace ${namespace}`);
	const places = pods.flatMap(pod => containersOf(pod, wish, terminal).map(container => ({pod, container})));
	const prefixed = wish.prefix ?? places.length > 1;
	const sinkOf = sinks(terminal, wish, prefixed);
	let exitCode = 0;
	for (const {pod, container} of places) {
		const sink = sinkOf(pod, container);
		const {timestamps, previous, from} = wish;
		const query = {...from, ...(timestamps ? {timestamps} : {}), ...(previous ? {previous} : {})};
		try {
			const {bytes} = await look({client, namespace, pod: pod.metadata.name, container, query});
			for await (const piece of bytes) await sink.take(piece);
			await sink.end();
		} catch (refusal) {
			const error = asState(refusal);
			if (places.length === 1 || !(error instanceof AppError) || rowOf(error.code).exitCode === 5) throw error;
			terminal.error(error.message);
			exitCode = Math.max(exitCode, rowOf(error.code).exitCode);
		}
	}
	return exitCode;
}

/** A pod that is named and not there is an error; a query may find nothing. */
async function podsOf(client: Client, namespace: string, search: PodSearch): Promise<readonly Pod[]> {
	if (search.name === undefined) return listPods(client, namespace, search);
	try {
		return [(await getOne(client, resourceOf('pods'), namespace, search.name)) as Pod];
	} catch (error) {
		throw await withNearest(client, error);
	}
}
