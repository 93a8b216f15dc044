// Which container of a pod a request means, and what is wrong with it; refusals in kubectl's words.

import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {didYouMean} from '../../api/suggest.js';
import {refusal} from './outcome.js';

/** The container that is named, or the only one. Throws `ERR_BAD_REQUEST`. */
export function containerOf({metadata, spec}: Pod, asked: string): string {
	const names = (spec?.containers ?? []).map(({name}) => name);
	const initNames = (spec?.initContainers ?? []).map(({name}) => name);
	const all = [...names, ...initNames];
	if (asked !== '') {
		if (!all.includes(asked)) throw refusal(`container ${asked} is not valid for pod ${metadata.name}${didYouMean(asked, all)}`);
		return asked;
	}
	const [only] = names;
	if (only !== undefined && names.length === 1) return only;
	const inits = initNames.length === 0 ? '' : ` or one of the init containers: [${initNames.join(' ')}]`;
	throw refusal(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]${inits}`);
}

/** How a container is, as its node last said. */
export function statusOfContainer({status}: Pod, container: string): ContainerStatus | undefined {
	const statuses: readonly ContainerStatus[] = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
	return statuses.find(({name}) => name === container);
}

/** The node of a pod. Throws `ERR_BAD_REQUEST` when it has none yet. */
export function nodeOf({metadata, spec}: Pod): string {
	const node = spec?.nodeName ?? '';
	if (node === '') throw refusal(`pod ${metadata.name} does not have a host assigned`);
	return node;
}
