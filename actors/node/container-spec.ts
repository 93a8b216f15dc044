// From a manifest's container to what the runtime starts: environment, `$(VAR)` expansion, command line. Pure.
//
// Expansion as in Kubernetes (third_party/forked/golang/expansion): `$(NAME)` of a known variable is replaced, of an unknown
// one kept, `$$` stands for one dollar.

import {fieldValue, parseFieldPath} from '../../api/field-path.js';
import type {Container, EnvVar, PodSpec} from '../../api/kinds/pod.js';
import {cpuMillis, memoryBytes} from '../../api/quantity.js';
import type {Assignment} from '../sync-message.js';
import type {ContainerSpec, Sandbox} from './runtime-port.js';

type Variables = ReadonlyMap<string, string>;

/** Replaces `$(NAME)` by the variable's value. */
export const expand = (text: string, variables: Variables): string =>
	text.replace(/\$(\$|\(([^)]*)\))/g, (whole, inner: string, name: string | undefined) => {
		if (inner === '$') return '$';
		return (name === undefined ? undefined : variables.get(name)) ?? whole;
	});

/** Variables every container gets; the manifest may set them otherwise. */
function standardVariables(assignment: Assignment, {podIP}: Sandbox): [string, string][] {
	return [
		['HOSTNAME', assignment.spec.hostname ?? assignment.name],
		['POD_IP', podIP],
		['POD_NAME', assignment.name],
		['POD_NAMESPACE', assignment.namespace],
	];
}

/** The complete environment: each variable may use those before it. */
export function environmentOf(container: Container, assignment: Assignment, sandbox: Sandbox): Variables {
	const variables = new Map<string, string>(standardVariables(assignment, sandbox));
	for (const variable of container.env ?? []) variables.set(variable.name, valueOf(variable, variables, assignment, sandbox));
	return variables;
}

function valueOf({value, valueFrom}: EnvVar, variables: Variables, assignment: Assignment, sandbox: Sandbox): string {
	const fieldPath = valueFrom?.fieldRef?.fieldPath;
	if (fieldPath === undefined) return expand(value ?? '', variables);
	const source = parseFieldPath(fieldPath); // Validation has let no other path through.
	return source === undefined ? '' : fieldValue(source, {...assignment, ...sandbox});
}

/** What to start for this attempt; undefined when the container names no command. */
export function containerSpecOf(
	container: Container,
	assignment: Assignment,
	sandbox: Sandbox,
	attempt: number,
): ContainerSpec | undefined {
	const variables = environmentOf(container, assignment, sandbox);
	const argv = [...(container.command ?? []), ...(container.args ?? [])].map(word => expand(word, variables));
	if (argv.length === 0) return undefined;
	const {runAsUser, runAsGroup} = userOf(container, assignment.spec);
	return {
		id: {uid: assignment.uid, container: container.name},
		namespace: assignment.namespace,
		podName: assignment.name,
		attempt,
		image: container.image,
		argv,
		env: [...variables].map(([name, value]) => ({name, value})),
		workingDir: container.workingDir,
		tty: container.tty ?? false,
		stdin: container.stdin ?? false,
		runAsUser,
		runAsGroup,
		memoryLimitBytes: quantity(container.resources?.limits?.['memory'], memoryBytes),
		cpuLimitMillis: quantity(container.resources?.limits?.['cpu'], cpuMillis),
	};
}

const quantity = (value: string | number | undefined, parse: (value: string | number) => number | undefined): number | undefined =>
	value === undefined ? undefined : parse(value);

const userOf = ({securityContext}: Container, pod: PodSpec): {runAsUser: number | undefined; runAsGroup: number | undefined} => ({
	runAsUser: securityContext?.runAsUser ?? pod.securityContext?.runAsUser,
	runAsGroup: securityContext?.runAsGroup ?? pod.securityContext?.runAsGroup,
});
