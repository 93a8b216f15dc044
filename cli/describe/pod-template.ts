// The template of pods as `rollout history --revision` and `describe deployment` show it. Pure.

import type {Container} from '../../api/kinds/pod.js';
import type {Template} from '../rollout/rollout-kind.js';
import {drawFields, indented, labelLines, type Field} from './lines.js';

type PodParts = {
	readonly initContainers?: readonly Container[];
	readonly containers?: readonly Container[];
	readonly serviceAccountName?: string;
};

/** `Pod Template:` and what is below it. */
export function drawTemplate({metadata, spec}: Template): string {
	const {initContainers = [], containers = []} = (spec ?? {}) as PodParts;
	const annotations = labelLines(metadata?.annotations);
	const head = drawFields([
		['Labels', labelLines(metadata?.labels)],
		['Annotations', annotations.length === 0 ? undefined : annotations],
	]);
	const body = head + drawContainers('Init Containers', initContainers) + drawContainers('Containers', containers);
	return `Pod Template:\n${indented(body, '  ')}`;
}

const drawContainers = (title: string, containers: readonly Container[]): string =>
	containers.length === 0 ? '' : `${title}:\n${containers.map(each => ` ${each.name}:\n${drawFields(fieldsOf(each), '  ')}`).join('')}`;

/** Values of the environment may be secrets that a template should not have: they are shown as the template has them, as kubectl does. */
const fieldsOf = ({image, command, args, ports = [], env = [], resources}: Container): readonly Field[] => [
	['Image', image],
	['Command', command === undefined ? undefined : command.flatMap(word => word.split('\n'))],
	['Args', args === undefined ? undefined : args.flatMap(word => word.split('\n'))],
	['Ports', ports.length === 0 ? undefined : ports.map(({containerPort, protocol = 'TCP'}) => `${containerPort}/${protocol}`)],
	['Limits', amounts(resources?.limits)],
	['Requests', amounts(resources?.requests)],
	['Environment', env.length === 0 ? undefined : env.map(({name, value}) => `${name}: ${value ?? '<set to a value of something else>'}`)],
];

const amounts = (values: object | undefined): string | undefined =>
	values === undefined
		? undefined
		: Object.entries(values)
				.map(([name, amount]) => `${name}: ${String(amount)}`)
				.join(', ');
