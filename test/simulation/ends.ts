// How programs ended, as the hosts know it; what a pod's status says of ends and restarts has to be just that.

import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {neverStarted} from '../../actors/node/containers/container-status.js';
import type {SimulatedContainer} from '../../agent/simulated/host.js';
import type {SimulatedNode} from './node.js';

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>;

export class Ends {
	/** All attempts by node, pod and container, in order. */
	readonly #attempts = new Map<string, SimulatedContainer[]>();

	onStart(node: string, container: SimulatedContainer): void {
		const key = keyOf(node, container.spec.id.uid, container.spec.id.container);
		const attempts = this.#attempts.get(key);
		if (attempts === undefined) this.#attempts.set(key, [container]);
		else attempts.push(container);
	}

	/** I10: what is said of an end is what the program ended with, and nobody counts a restart that was none. */
	of({metadata, spec, status}: Pod): string[] {
		const node = spec?.nodeName;
		if (node === undefined) return [];
		return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(each => {
			const attempts = this.#attempts.get(keyOf(node, metadata.uid, each.name)) ?? [];
			const who = `I10: ${metadata.name}/${each.name} on ${node}`;
			const wrong = [each.state?.terminated, each.lastState?.terminated].filter(
				end => end !== undefined && end.reason !== neverStarted && !attempts.some(attempt => isEnd(end, attempt)),
			);
			const surplus = each.restartCount > Math.max(0, attempts.length - 1);
			return [
				...wrong.map(end => `${who} is said to have ended like this, and did not: ${JSON.stringify(end)}`),
				...(surplus ? [`${who} is said to have restarted ${each.restartCount} times, and was started ${attempts.length} times`] : []),
			];
		});
	}

	/** At rest: each that runs says how often it was started again, and how it ended before. */
	ofAll(pods: readonly Pod[], nodes: readonly SimulatedNode[]): string[] {
		return pods.flatMap(({metadata, spec, status}) => {
			const host = nodes.find(({name}) => name === spec?.nodeName)?.programs;
			return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(({name, restartCount, lastState}) => {
				const runs = host?.find({uid: metadata.uid, container: name});
				if (runs === undefined || runs.exit !== undefined) return [];
				const who = `I10: ${metadata.name}/${name} on ${spec?.nodeName ?? ''}`;
				const {attempt} = runs.spec;
				const last = lastState?.terminated;
				const isShown = runs.previous === undefined ? last === undefined : last !== undefined && says(last, runs.previous);
				return [
					...(restartCount === attempt ? [] : [`${who} says ${restartCount} restarts, attempt ${attempt} runs`]),
					...(isShown ? [] : [`${who} does not say how it ended before: ${JSON.stringify(last)}`]),
				];
			});
		});
	}
}

const keyOf = (node: string, uid: string, container: string): string => `${node}/${uid}/${container}`;

const isEnd = (end: Terminated, {exit}: SimulatedContainer): boolean => exit !== undefined && says(end, exit);

const says = (end: Terminated, {exitCode, reason, finishedAtMs}: NonNullable<SimulatedContainer['exit']>): boolean =>
	end.exitCode === (exitCode ?? -1) && end.reason === reason && Date.parse(end.finishedAt ?? '') === Math.trunc(finishedAtMs);
