// From a manifest's container to what the runtime starts, or to what it waits for: environment, command line, user. Pure.

import {capabilityName} from '../../../api/capabilities.js';
import {isExclusive} from '../../../api/exclusive.js';
import type {Container, PodSpec} from '../../../api/kinds/pod.js';
import {limits} from '../../../api/limits.js';
import {cpuMillis, memoryBytes} from '../../../api/quantity.js';
import {charactersOf, environmentOf, expand, isPlain, type Environment, type EnvironmentInput} from './environment.js';
import {gpuShareOf} from './gpu-share.js';
import {instanceIn} from './instance.js';
import type {ContainerSpec} from '../runtime/runtime-port.js';

export type ContainerSpecOutcome =
	| {readonly ok: true; readonly value: ContainerSpec}
	/** Kubernetes' word for what the container waits for, and what that is. */
	| {readonly ok: false; readonly reason: 'CreateContainerConfigError'; readonly message: string};

/** What to start for this attempt, or why nothing can be started as things are. */
export function containerSpecOf(container: Container, around: EnvironmentInput, attempt: number): ContainerSpecOutcome {
	const environment = environmentOf(container, around);
	if (!environment.ok) return {ok: false, reason: 'CreateContainerConfigError', message: environment.problem};
	const words = wordsOf(container, environment.value);
	if (!words.ok) return words;
	return {ok: true, value: specOf(container, around, attempt, words.argv, environment.value)};
}

type Words = {readonly ok: true; readonly argv: readonly string[]} | (ContainerSpecOutcome & {readonly ok: false});

function wordsOf({name, command = [], args = []}: Container, {variables}: Environment): Words {
	const argv: string[] = [];
	let characters = 0;
	for (const word of [...command, ...args]) {
		const value = expand(word, variables);
		characters += charactersOf(value);
		if (characters > limits.environmentCharacters) {
			const message = `command and args of container "${name}" are longer than ${limits.environmentCharacters} characters`;
			return {ok: false, reason: 'CreateContainerConfigError', message};
		}
		if (!isPlain(value)) {
			const message = `command and args of container "${name}" use a variable with the value of a Secret, and all users of a node can read command lines: let the program read the variable`;
			return {ok: false, reason: 'CreateContainerConfigError', message};
		}
		argv.push(value.join(''));
	}
	return {ok: true, argv};
}

function specOf(
	container: Container,
	{assignment}: EnvironmentInput,
	attempt: number,
	argv: readonly string[],
	{sources}: Environment,
): ContainerSpec {
	const {runAsUser, runAsGroup} = userOf(container, assignment.spec);
	const instance = instanceIn(container, assignment);
	const readOnlyVolumes = new Set(
		(assignment.spec.volumes ?? []).flatMap(({name, persistentVolumeClaim}) => (persistentVolumeClaim?.readOnly === true ? [name] : [])),
	);
	return {
		id: {uid: assignment.uid, container: container.name},
		namespace: assignment.namespace,
		podName: assignment.name,
		attempt,
		image: container.image,
		argv,
		...(argv.length > 0 && (container.command ?? []).length === 0 ? {argsOnly: true as const} : {}),
		imageId: undefined,
		env: sources,
		workingDir: container.workingDir,
		...(isExclusive(assignment) ? {exclusive: true as const} : {}),
		tty: container.tty ?? false,
		stdin: container.stdin ?? false,
		...(container.stdinOnce === true ? {stdinOnce: true as const} : {}),
		runAsUser,
		runAsGroup,
		runAsNonRoot: container.securityContext?.runAsNonRoot ?? assignment.spec.securityContext?.runAsNonRoot ?? false,
		...rightsOf(container, assignment.spec),
		groups: groupsOf(assignment.spec),
		groupsPolicy: assignment.spec.securityContext?.supplementalGroupsPolicy ?? 'Merge',
		mounts: (container.volumeMounts ?? []).map(({name, mountPath, subPath, readOnly = false}) => ({
			volume: name,
			path: mountPath,
			subPath,
			readOnly: readOnly || readOnlyVolumes.has(name),
		})),
		readOnlyRoot: container.securityContext?.readOnlyRootFilesystem ?? false,
		...(instance === undefined ? {} : {function: instance}),
		memoryLimitBytes: memoryLimitOf(container),
		cpuLimitMillis: quantity(container.resources?.limits?.['cpu'], cpuMillis),
		cpuRequestMillis: quantity(container.resources?.requests?.['cpu'], cpuMillis),
		...gpuShareOf(assignment.spec, container),
	};
}

export const memoryLimitOf = ({resources}: Container): number | undefined => quantity(resources?.limits?.['memory'], memoryBytes);

type Rights = Pick<ContainerSpec, 'allowPrivilegeEscalation' | 'privileged' | 'capabilities' | 'seccomp'>;

/** What the container says counts before what its pod does. */
function rightsOf({securityContext: own = {}}: Container, {securityContext: ofPod = {}}: PodSpec): Rights {
	const {privileged = false, allowPrivilegeEscalation = privileged, capabilities: {add = [], drop = []} = {}} = own;
	return {
		allowPrivilegeEscalation,
		privileged,
		capabilities: {add: add.map(capabilityName), drop: drop.map(capabilityName)},
		seccomp: (own.seccompProfile ?? ofPod.seccompProfile)?.type === 'Unconfined' ? 'unconfined' : 'default',
	};
}

const groupsOf = ({securityContext: {fsGroup, supplementalGroups = []} = {}}: PodSpec): readonly number[] => [
	...new Set([...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups]),
];

const quantity = (value: string | number | undefined, parse: (value: string | number) => number | undefined): number | undefined =>
	value === undefined ? undefined : parse(value);

const userOf = ({securityContext}: Container, pod: PodSpec): {runAsUser: number | undefined; runAsGroup: number | undefined} => ({
	runAsUser: securityContext?.runAsUser ?? pod.securityContext?.runAsUser,
	runAsGroup: securityContext?.runAsGroup ?? pod.securityContext?.runAsGroup,
});
