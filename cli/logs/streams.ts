// One container's output: which containers of a pod are meant, how each is named and coloured, and one look at its log.

import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {attemptHeader, offsetHeader} from '../../api/log-place.js';
import type {Client, Query} from '../client.js';
import {chosenContainer} from '../exec/target.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {lineSink, plainSink, type Sink} from './sink.js';
import type {LogWish} from './wish.js';

/** The containers of a pod that are meant: the ones to begin with first. Throws ERR_USAGE for a name that it has not. */
export function containersOf(pod: Pod, {container, allContainers}: LogWish, terminal: Terminal): readonly string[] {
	if (!allContainers) return [chosenContainer(pod, container, terminal).name];
	return [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({name}) => name);
}

export function statusOf({status}: Pod, container: string): ContainerStatus | undefined {
	return [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])].find(({name}) => name === container);
}

const palette = ['cyan', 'green', 'yellow', 'magenta', 'blue', 'red'] as const;

/** Gives each container the next colour, so that the first ones always look the same. */
export function sinks(
	{colours, pour, outIsTerminal}: Pick<Terminal, 'colours' | 'pour' | 'outIsTerminal'>,
	wish: LogWish,
	prefixed: boolean,
) {
	let count = 0;
	const isShown = outIsTerminal && !wish.raw;
	return (pod: Pod, container: string): Sink => {
		if (!prefixed) return wish.timestamps ? lineSink({pour, isShown, timed: true}) : plainSink({pour, isShown});
		const paint = colours[palette[count++ % palette.length] ?? 'cyan'];
		return lineSink({pour, isShown, timed: wish.timestamps, prefix: `${paint(`[${pod.metadata.name}/${container}]`)} `});
	};
}

export type Look = {
	readonly client: Client;
	readonly namespace: string;
	readonly pod: string;
	readonly container: string;
	readonly query: Query;
};

export type Looked = {readonly attempt: number; readonly offset: number; readonly bytes: AsyncIterable<Uint8Array>};

/** Asks for a log. Throws AppError. */
export async function look({client, namespace, pod, container, query}: Look): Promise<Looked> {
	const path = pathOf(resourceOf('pods'), namespace, pod, 'log');
	const {headers, bytes} = await client.answer({path, query: {container, ...query}, accept: 'text/plain, */*'});
	const numberOf = (name: string): number => Number(headers[name] ?? 0);
	return {attempt: numberOf(attemptHeader), offset: numberOf(offsetHeader), bytes};
}
