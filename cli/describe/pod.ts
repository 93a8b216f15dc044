// `describe pod`: how to reach it, its containers with what became of them, and its conditions. Pure.

import type {
	Container,
	ContainerState,
	ContainerStatus,
	EnvFromSource,
	EnvVarSource,
	KeyRef,
	Pod,
	PodSpec,
	Volume,
} from '../../api/kinds/pod.js';
import {formatHostPort} from '../../api/host-port.js';
import {drawConditions, drawFields, metadataFields, whenText, type Field} from './lines.js';
import {hookText, probeText} from './probes.js';
import {mountLines, volumeFields} from './volumes.js';
import type {WidthOf} from '../screen/table.js';

/** Everything but the events. */
export function describePod(pod: Pod, nowMs: number, widthOf: WidthOf): string {
	const {spec, status} = pod;
	const volumes = spec?.volumes ?? [];
	const fields: readonly Field[] = [
		...metadataFields(pod, nowMs),
		['Node', nodeText(pod)],
		['Nominated Node', status?.nominatedNodeName],
		['Priority', spec?.priority === undefined ? undefined : priorityText(spec)],
		['Status', phaseText(pod)],
		['Message', status?.message],
		['IP', status?.podIP ?? '<none>'],
		['Reach it at', addressesOf(pod)],
		['Restart Policy', spec?.restartPolicy],
		[
			'Node Selector',
			spec?.nodeSelector === undefined ? undefined : Object.entries(spec.nodeSelector).map(([key, value]) => `${key}=${value}`),
		],
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
			return hostPort === undefined || hostIP === undefined
				? [own]
				: [own, `${formatHostPort({host: hostIP, port: hostPort})}  (${what}, on the node's own address)`];
		}),
	);
	return addresses.length === 0 ? undefined : addresses;
}

const drawVolumes = (volumes: readonly Volume[]): string =>
	volumes.length === 0 ? '' : 'Volumes:\n' + drawFields(volumeFields(volumes), '  ');

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
	['Image', container.image],
	['Command', container.command === undefined ? undefined : wordsText(container.command)],
	['Args', container.args === undefined ? undefined : wordsText(container.args)],
	['Ports', container.ports?.map(({containerPort, protocol = 'TCP'}) => `${containerPort}/${protocol}`).join(', ')],
	['Container ID', status?.containerID],
	['User', status?.user === undefined ? undefined : userText(status.user.linux)],
	['Working Dir', status?.process?.workingDir ?? container.workingDir],
	['Home', status?.process?.home],
	['Path', status?.process?.path],
	['State', stateLines(status?.state, nowMs)],
	['Last State', status?.lastState === undefined ? undefined : stateLines(status.lastState, nowMs)],
	['Ready', status?.ready === true ? 'True' : 'False'],
	['Restart Count', String(status?.restartCount ?? 0)],
	['Limits', amounts(container.resources?.limits)],
	['Requests', amounts(container.resources?.requests)],
	['Liveness', probeText(container.livenessProbe)],
	['Readiness', probeText(container.readinessProbe)],
	['Startup', probeText(container.startupProbe)],
	['After Start', hookText(container.lifecycle?.postStart)],
	['Before Stop', hookText(container.lifecycle?.preStop)],
	['Mounts', mountLines(container, volumes)],
	['Environment From', container.envFrom?.map(entriesText)],
	['Environment', container.env?.map(({name, value, valueFrom}) => `${name}: ${value ?? sourceText(valueFrom)}`)],
];

/** `1000 (group 1000, also 2000)`. */
const userText = ({uid, gid, supplementalGroups}: NonNullable<ContainerStatus['user']>['linux']): string =>
	`${uid} (group ${gid}${supplementalGroups.length === 0 ? '' : `, also ${supplementalGroups.join(', ')}`})`;

/** `cpu: 500m, memory: 64Mi`. */
const amounts = (list: Readonly<Record<string, unknown>> | undefined): string | undefined =>
	list === undefined || Object.keys(list).length === 0
		? undefined
		: Object.entries(list)
				.map(([name, amount]) => `${name}: ${String(amount)}`)
				.sort()
				.join(', ');

/** `ConfigMap settings (optional), each as APP_KEY`. */
function entriesText({prefix = '', configMapRef, secretRef}: EnvFromSource): string {
	const kind = configMapRef === undefined ? 'Secret' : 'ConfigMap';
	const {name = '', optional = false} = configMapRef ?? secretRef ?? {};
	return `${kind} ${name}${optional ? ' (optional)' : ''}${prefix === '' ? '' : `, each as ${prefix}KEY`}`;
}

/** Where the value of a variable comes from, in kubectl's words. */
function sourceText({secretKeyRef, configMapKeyRef, resourceFieldRef, fieldRef}: EnvVarSource = {}): string {
	if (secretKeyRef !== undefined) return keyText(secretKeyRef, 'secret');
	if (configMapKeyRef !== undefined) return keyText(configMapKeyRef, 'config map');
	if (resourceFieldRef !== undefined) return `(${resourceFieldRef.resource} of ${resourceFieldRef.containerName ?? 'the container'})`;
	return fieldRef === undefined ? '' : `(${fieldRef.fieldPath} of the pod)`;
}

const keyText = ({name, key, optional}: KeyRef, of: string): string =>
	`<set to the key '${key}' in ${of} '${name}'>${optional === true ? '  (optional)' : ''}`;

const longestWord = 100;

/** One line a person can read: words as JSON where they have spaces, long ones cut. */
const wordsText = (words: readonly string[]): string =>
	words
		.map(word => (word.length > longestWord ? `${word.slice(0, longestWord)}…` : word))
		.map(word => (/^[\w@%+=:,./$()-]+$/.test(word) ? word : JSON.stringify(word)))
		.join(' ');

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
