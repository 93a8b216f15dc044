// `describe pod`: how to reach it, its containers with what became of them, and its conditions. Pure.

import type {Container, ContainerState, ContainerStatus, Pod, PodSpec, Volume} from '../../api/kinds/pod.js';
import {toldToWaitFor} from '../../actors/control/pods/awaited.js';
import {formatHostPort} from '../../api/host-port.js';
import {drawConditions, drawFields, labelLines, metadataFields, whenText, type Field} from './lines.js';
import {inLine, programFields, termFields} from './container.js';
import {drawVolumes} from './volumes.js';
import type {WidthOf} from '../screen/table.js';

/** Everything but the events. */
export function describePod(pod: Pod, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = pod;
	const volumes = spec?.volumes ?? [];
	const fields: readonly Field[] = [
		...metadataFields(pod, nowMs),
		['Node', nodeText(pod)],
		['Waits For', toldToWaitFor(pod)],
		['Nominated Node', status?.nominatedNodeName],
		['Priority', spec?.priority === undefined ? undefined : priorityText(spec)],
		['Runtime Class', spec?.runtimeClassName],
		['Status', phaseText(pod)],
		['Message', status?.message],
		['IP', status?.podIP ?? '<none>'],
		['Reach it at', addressesOf(pod)],
		['Restart Policy', spec?.restartPolicy],
		['Shares With Node', spec === undefined ? undefined : sharedWithNode(spec)],
		['Host Aliases', spec?.hostAliases?.map(({ip, hostnames = []}) => [ip, ...hostnames].join(' '))],
		['Node Selector', spec?.nodeSelector === undefined ? undefined : labelLines(spec.nodeSelector)],
	];
	return (
		drawFields(fields) +
		drawContainers('Init Containers', spec?.initContainers ?? [], status?.initContainerStatuses ?? [], volumes, nowMs) +
		drawContainers('Containers', spec?.containers ?? [], status?.containerStatuses ?? [], volumes, nowMs) +
		drawVolumes(volumes) +
		drawConditions(status?.conditions, widthOf)
	);
}

function nodeText({spec, status}: Pod): string {
	if (spec?.nodeName === undefined || spec.nodeName === '') return '<none>';
	return status?.hostIP === undefined ? spec.nodeName : `${spec.nodeName}/${status.hostIP}`;
}

const priorityText = ({priority = 0, priorityClassName}: PodSpec): string =>
	priorityClassName === undefined ? String(priority) : `${priority} (${priorityClassName})`;

/** Undefined: nothing. */
function sharedWithNode({hostNetwork = false, hostPID = false, hostIPC = false}: PodSpec): string | undefined {
	const shared = [...(hostNetwork ? ['network'] : []), ...(hostPID ? ['processes'] : []), ...(hostIPC ? ['IPC'] : [])];
	return shared.length === 0 ? undefined : shared.join(', ');
}

const phaseText = ({metadata, status}: Pod): string => {
	const phase = metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Pending') : 'Terminating';
	return status?.reason === undefined ? phase : `${phase} (${status.reason})`;
};

/** Address and port for each port a container names; undefined while the pod has no address or names none. */
function addressesOf({spec, status}: Pod): readonly string[] | undefined {
	const podIP = status?.podIP;
	if (podIP === undefined || podIP === '') return undefined;
	const addresses = (spec?.containers ?? []).flatMap(({name, ports = []}) =>
		ports.flatMap(({containerPort, hostPort, protocol = 'TCP', name: port}) => {
			const what = `${port === undefined ? '' : `${port}, `}${protocol}, container ${name}`;
			const own = `${formatHostPort({host: podIP, port: containerPort})}  (${what})`;
			const hostIP = status?.hostIP;
			const isSame = hostIP === podIP && hostPort === containerPort;
			return hostPort === undefined || hostIP === undefined || isSame
				? [own]
				: [own, `${formatHostPort({host: hostIP, port: hostPort})}  (${what}, on the node's own address)`];
		}),
	);
	return addresses.length === 0 ? undefined : addresses;
}

function drawContainers(
	title: string,
	containers: readonly Container[],
	statuses: readonly ContainerStatus[],
	volumes: readonly Volume[],
	nowMs: number,
): string {
	if (containers.length === 0) return '';
	const drawn = containers.map(container => {
		const status = statuses.find(({name}) => name === container.name);
		return `  ${container.name}:\n` + drawFields(containerFields(container, status, volumes, nowMs), '    ');
	});
	return `${title}:\n` + drawn.join('');
}

const containerFields = (
	container: Container,
	status: ContainerStatus | undefined,
	volumes: readonly Volume[],
	nowMs: number,
): readonly Field[] => [
	...programFields(container, inLine),
	['Container ID', status?.containerID],
	['User', status?.user === undefined ? undefined : userText(status.user.linux)],
	['Working Dir', status?.process?.workingDir ?? container.workingDir],
	['Home', status?.process?.home],
	['Path', status?.process?.path],
	['State', stateLines(status?.state, nowMs)],
	['Last State', status?.lastState === undefined ? undefined : stateLines(status.lastState, nowMs)],
	['Ready', status?.ready === true ? 'True' : 'False'],
	['Restart Count', String(status?.restartCount ?? 0)],
	...termFields(container, volumes),
];

/** `1000 (group 1000, also 2000)`. */
const userText = ({uid, gid, supplementalGroups}: NonNullable<ContainerStatus['user']>['linux']): string =>
	`${uid} (group ${gid}${supplementalGroups.length === 0 ? '' : `, also ${supplementalGroups.join(', ')}`})`;

/** What a container does, or how it ended; when it is tried again. */
function stateLines(state: ContainerState | undefined, nowMs: number): readonly string[] {
	if (state?.running !== undefined) return [`Running since ${whenText(state.running.startedAt, nowMs)}`];
	if (state?.terminated !== undefined) {
		const {exitCode, signal, reason, message, finishedAt} = state.terminated;
		const code = exitCode === -1 ? 'exit code unknown' : `exit code ${exitCode}`;
		const how = `${code}${signal === undefined ? '' : ` (signal ${signal})`}`;
		return [
			`Terminated${reason === undefined ? '' : ` (${reason})`}: ${how}, ${whenText(finishedAt, nowMs)}`,
			...(message === undefined ? [] : ['its last lines:', ...message.split('\n').map(line => `  ${line}`)]),
		];
	}
	const {reason, message, retryAt} = state?.waiting ?? {};
	return [
		`Waiting${reason === undefined ? '' : ` (${reason})`}${message === undefined ? '' : `: ${message}`}`,
		...(retryAt === undefined ? [] : [`next try ${whenText(retryAt, nowMs)}`]),
	];
}
