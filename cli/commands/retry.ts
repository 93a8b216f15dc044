// `troupe retry`: what waits out a back-off starts now.

import {findKind} from '../../api/catalogue.js';
import type {RetryAnswer} from '../../api/retry.js';
import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import type {Client} from '../client.js';
import {asState, failedError, type Invocation, usageError} from '../command.js';
import {chosenContainer, podNameOf} from '../exec/target.js';
import {getOne} from '../cluster/lists.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import type {Terminal} from '../screen/terminal.js';

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, flags, terminal} = invocation;
	if (inputs.length === 0) throw usageError('which pod? as in: troupe retry crash');
	const container = flags.text('container');
	const [first = '', ...others] = inputs;
	// As kubectl has it: the kind, then names.
	const words = others.length > 0 && findKind(first)?.plural === 'pods' ? others : inputs;
	const names = words.map(word => podNameOf(word, 'retry'));
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		for (const name of names) await retry(client, terminal, namespace, name, container);
		return 0;
	});
}

async function retry(client: Client, terminal: Terminal, namespace: string, name: string, container: string | undefined): Promise<void> {
	const pod = (await getOne(client, resourceOf('pods'), namespace, name)) as Pod;
	if (container !== undefined) chosenContainer(pod, container, terminal);
	const path = pathOf(resourceOf('pods'), namespace, name, 'retry');
	const answer = (await client.json({method: 'POST', path, query: {container}}).catch((error: unknown) => {
		throw asState(error);
	})) as RetryAnswer;
	for (const each of answer.containers) terminal.out(`pod/${name}: container ${each} starts now${countOf(pod, each)}\n`);
	if (answer.containers.length === 0) throw failedError(`pod/${name}: nothing waits: ${standing(pod, container)}`);
}

/** ` (retry 4)`, as `get pods` counts them; nothing for a first start. */
function countOf(pod: Pod, container: string): string {
	const status = statusesOf(pod).find(({name}) => name === container);
	const number = status?.state?.waiting?.retry ?? (status?.lastState?.terminated === undefined ? undefined : status.restartCount + 1);
	return number === undefined ? '' : ` (retry ${number})`;
}

const statusesOf = ({status}: Pod): readonly ContainerStatus[] => [
	...(status?.containerStatuses ?? []),
	...(status?.initContainerStatuses ?? []),
];

/** How the containers are instead. */
function standing(pod: Pod, container: string | undefined): string {
	const statuses = statusesOf(pod).filter(({name}) => container === undefined || name === container);
	if (statuses.length === 0) return `it is ${pod.status?.phase ?? 'Pending'}`;
	return statuses.map(({name, state}) => `container ${name} ${wordOf(state)}`).join(', ');
}

function wordOf(state: ContainerStatus['state']): string {
	if (state?.running !== undefined) return 'runs';
	if (state?.terminated !== undefined) return 'has ended for good';
	return `is starting (${state?.waiting?.reason ?? 'ContainerCreating'})`;
}
