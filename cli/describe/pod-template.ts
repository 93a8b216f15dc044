// The template of pods as `rollout history --revision` and `describe` show it of whatever has one. Pure.

import type {Container, PodSpec, Toleration, Volume} from '../../api/kinds/pod.js';
import type {Template} from '../rollout/rollout-kind.js';
import {programFields, termFields, wordByWord} from './container.js';
import {drawFields, indented, labelLines, type Field} from './lines.js';
import {drawVolumes} from './volumes.js';

/** `Pod Template:` and what is below it. */
export function drawTemplate({metadata, spec}: Template): string {
	const {initContainers = [], containers = [], volumes = [], nodeSelector, tolerations} = (spec ?? {}) as Partial<PodSpec>;
	const annotations = labelLines(metadata?.annotations);
	const head = drawFields([
		['Labels', labelLines(metadata?.labels)],
		['Annotations', annotations.length === 0 ? undefined : annotations],
	]);
	const drawn = drawContainers('Init Containers', initContainers, volumes) + drawContainers('Containers', containers, volumes);
	const places = drawFields([
		['Node-Selectors', nodeSelector === undefined ? undefined : labelLines(nodeSelector)],
		['Tolerations', tolerations?.map(tolerationText)],
	]);
	return `Pod Template:\n${indented(head + drawn + drawVolumes(volumes) + places, '  ')}`;
}

const drawContainers = (title: string, containers: readonly Container[], volumes: readonly Volume[]): string =>
	containers.length === 0
		? ''
		: `${title}:\n${containers.map(each => ` ${each.name}:\n${drawFields(fieldsOf(each, volumes), '  ')}`).join('')}`;

const fieldsOf = (container: Container, volumes: readonly Volume[]): readonly Field[] => [
	...programFields(container, wordByWord),
	...termFields(container, volumes),
];

/** `gpu=yes:NoSchedule`, as kubectl. */
function tolerationText({key = '', operator, value = '', effect, tolerationSeconds}: Toleration): string {
	const what = `${key}${value === '' ? '' : `=${value}`}${effect === undefined ? '' : `:${effect}`}`;
	const words = [what, operator === 'Exists' ? 'op=Exists' : '', tolerationSeconds === undefined ? '' : `for ${tolerationSeconds}s`];
	return words.filter(word => word !== '').join(' ');
}
