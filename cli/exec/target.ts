// Which container of which pod a command means, with errors that say what would be right.

import type {Container, Pod} from '../../api/kinds/pod.js';
import {didYouMean} from '../../api/suggest.js';
import type {Client} from '../client.js';
import {getOne} from '../cluster/lists.js';
import {readTarget, resourceOf} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {failedError, usageError} from '../command.js';

export type RemoteTarget = {readonly namespace: string; readonly pod: string; readonly container: Container};

/** Kubernetes' annotation of the container that is meant when none is named. */
const defaultContainer = 'kubectl.kubernetes.io/default-container';

/** `NAME` or `pod/NAME`. Throws ERR_USAGE. */
export function podNameOf(word: string, command: string): string {
	if (!word.includes('/')) return word;
	const {resource, names} = readTarget(word);
	if (resource.kind !== 'Pod') throw usageError(`${command} takes a pod, not a ${resource.singular}; troupe get pods lists them`);
	return names[0] ?? '';
}

/** The container, of a pod that runs. Throws AppError when there is none, or when it is not clear which. */
export async function findTarget(
	client: Client,
	terminal: Terminal,
	{namespace, pod: name, container: asked}: {readonly namespace: string; readonly pod: string; readonly container: string | undefined},
): Promise<RemoteTarget> {
	const pod = (await getOne(client, resourceOf('pods'), namespace, name)) as Pod;
	const container = chosenContainer(pod, asked, terminal);
	checkRuns(pod, container.name);
	return {namespace, pod: name, container};
}

/** The one that is named, else the pod's default, else the first; when there are others a person is told which one it is. */
export function chosenContainer({metadata, spec}: Pod, asked: string | undefined, terminal: Terminal): Container {
	const containers = spec?.containers ?? [];
	const all = [...containers, ...(spec?.initContainers ?? [])];
	const byName = (name: string): Container | undefined => all.find(each => each.name === name);
	const names = all.map(({name}) => name);
	if (asked !== undefined) {
		const found = byName(asked);
		if (found !== undefined) return found;
		throw usageError(`pod "${metadata.name}" has no container "${asked}"${didYouMean(asked, names) || `; there are ${names.join(', ')}`}`);
	}
	const chosen = byName(metadata.annotations?.[defaultContainer] ?? '') ?? containers[0];
	if (chosen === undefined) throw failedError(`pod "${metadata.name}" has no containers`);
	if (containers.length > 1)
		terminal.note(`note: pod "${metadata.name}" has ${names.join(', ')}; this is ${chosen.name}, -c chooses another`);
	return chosen;
}

/** Says why nothing can be run in it, and what shows more. */
function checkRuns({metadata: {name}, spec, status}: Pod, container: string): void {
	const {phase = 'Pending', containerStatuses = [], initContainerStatuses = []} = status ?? {};
	if (phase === 'Succeeded' || phase === 'Failed')
		throw failedError(`pod "${name}" has ended (${phase}); troupe logs ${name} shows what it wrote`);
	const state = [...containerStatuses, ...initContainerStatuses].find(each => each.name === container)?.state;
	if (state?.running !== undefined) return;
	const isPlaced = (spec?.nodeName ?? '') !== '';
	const waiting = state?.waiting;
	const why =
		state?.terminated === undefined
			? (waiting?.reason ?? (isPlaced ? 'ContainerCreating' : 'it has no node yet'))
			: `it ended with exit code ${state.terminated.exitCode}`;
	throw failedError(`container "${container}" of pod "${name}" does not run: ${why}; troupe describe pod ${name} tells more`);
}
