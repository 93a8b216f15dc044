// What a container is to be, of a pod as of a template of pods. Pure.

import type {Container, EnvFromSource, EnvVarSource, KeyRef, Volume} from '../../api/kinds/pod.js';
import type {Field} from './lines.js';
import {hookText, probeText} from './probes.js';
import {mountLines} from './volumes.js';

/** How the words of a command are shown. */
type ShownWords = (words: readonly string[]) => string | readonly string[];

/** As kubectl: a word a line. */
export const wordByWord: ShownWords = words => words.flatMap(word => word.split('\n'));

/** What is started. */
export const programFields = ({image, command, args, ports}: Container, shown: ShownWords): readonly Field[] => [
	['Image', image],
	['Command', command === undefined ? undefined : shown(command)],
	['Args', args === undefined ? undefined : shown(args)],
	['Ports', ports?.map(({containerPort, protocol = 'TCP'}) => `${containerPort}/${protocol}`).join(', ')],
];

/** On which terms. Values of the environment may be secrets that a manifest should not have: they are shown as it has them, as kubectl does. */
export const termFields = (container: Container, volumes: readonly Volume[]): readonly Field[] => [
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

/** `cpu: 500m, memory: 64Mi`. */
export const amounts = (list: Readonly<Record<string, unknown>> | undefined): string | undefined =>
	list === undefined || Object.keys(list).length === 0
		? undefined
		: Object.entries(list)
				.map(([name, amount]) => `${name}: ${String(amount)}`)
				.sort()
				.join(', ');

/** `ConfigMap settings (optional), each as APP_KEY`. */
export function entriesText({prefix = '', configMapRef, secretRef}: EnvFromSource): string {
	const kind = configMapRef === undefined ? 'Secret' : 'ConfigMap';
	const {name = '', optional = false} = configMapRef ?? secretRef ?? {};
	return `${kind} ${name}${optional ? ' (optional)' : ''}${prefix === '' ? '' : `, each as ${prefix}KEY`}`;
}

/** Where the value of a variable comes from, in kubectl's words. */
export function sourceText({secretKeyRef, configMapKeyRef, resourceFieldRef, fieldRef}: EnvVarSource = {}): string {
	if (secretKeyRef !== undefined) return keyText(secretKeyRef, 'secret');
	if (configMapKeyRef !== undefined) return keyText(configMapKeyRef, 'config map');
	if (resourceFieldRef !== undefined) return `(${resourceFieldRef.resource} of ${resourceFieldRef.containerName ?? 'the container'})`;
	return fieldRef === undefined ? '' : `(${fieldRef.fieldPath} of the pod)`;
}

const keyText = ({name, key, optional}: KeyRef, of: string): string =>
	`<set to the key '${key}' in ${of} '${name}'>${optional === true ? '  (optional)' : ''}`;

const longestWord = 100;

/** One line a person can read: words as JSON where they have spaces, long ones cut. */
export const inLine: ShownWords = words =>
	words
		.map(word => (word.length > longestWord ? `${word.slice(0, longestWord)}…` : word))
		.map(word => (/^[\w@%+=:,./$()-]+$/.test(word) ? word : JSON.stringify(word)))
		.join(' ');
