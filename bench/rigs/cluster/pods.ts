// What the API object of a pod says of the program behind it.

import type {ApiObject} from '../../../api/object.js';
import type {ContainerStatus, Pod} from '../../../api/kinds/pod.js';
import type {Client} from '../../../cli/client.js';
import {startTimeOf} from './processes.js';
import {eventually, until} from './waiting.js';

export const containerOf = (object: ApiObject | undefined): ContainerStatus | undefined =>
	(object as Pod | undefined)?.status?.containerStatuses?.[0];
export const phaseOf = (object: ApiObject | undefined): string | undefined => (object as Pod | undefined)?.status?.phase;

/** Of the program that runs now; undefined when none does. */
export function pidOf(object: ApiObject | undefined): number | undefined {
	const container = containerOf(object);
	if (container?.state?.running === undefined) return undefined;
	const pid = Number(/^process:\/\/(\d+)/.exec(container.containerID ?? '')?.[1]);
	return Number.isSafeInteger(pid) ? pid : undefined;
}

export const isReady = (object: ApiObject | undefined): boolean => containerOf(object)?.ready === true && pidOf(object) !== undefined;

/** The process ids of these pods once all of them run. */
export const pidsWhenRunning = (client: Client, ...names: readonly string[]): Promise<readonly number[]> =>
	until(client, 'pods', `${names.join(', ')} to run`, pods => {
		const pids = names.flatMap(name => (isReady(pods.get(name)) ? [pidOf(pods.get(name)) ?? 0] : []));
		return pids.length === names.length ? pids : undefined;
	});

/** Resolves when an obedient pod answers as this process: a program takes a moment until it listens. */
export async function untilAnswers(object: ApiObject | undefined, pid: number | undefined): Promise<void> {
	const podIP = (object as Pod | undefined)?.status?.podIP ?? '';
	const startTime = pid === undefined ? '' : startTimeOf(pid);
	let answer = '';
	const ask = async (): Promise<boolean> => {
		try {
			const response = await fetch(`http://${podIP}:8080/`, {headers: {connection: 'close'}, signal: AbortSignal.timeout(10_000)});
			answer = await response.text();
		} catch (error) {
			answer = String(error);
		}
		return answer === startTime;
	};
	await eventually(`${object?.metadata.name} answers as ${pid}`, ask, () => answer);
}
