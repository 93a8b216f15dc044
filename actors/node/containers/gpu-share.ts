// Which GPUs of its pod a container has. The same ones in each attempt, whoever asks: it follows from the pod's spec alone.

import type {Container, PodSpec} from '../../../api/kinds/pod.js';
import {gpusOfContainer} from '../../../api/pod-resources.js';
import {isSidecar} from '../../../api/sidecars.js';
import type {ContainerSpec} from '../runtime/runtime-port.js';

/** As pods count them (podRequests): sidecars keep theirs beside all that comes after them, other init containers leave theirs to the next. */
export function gpuShareOf({initContainers = [], containers}: PodSpec, container: Container): Pick<ContainerSpec, 'gpus'> {
	const count = gpusOfContainer(container);
	if (count === 0) return {};
	const before = initContainers.findIndex(({name}) => name === container.name);
	const beside =
		before >= 0
			? initContainers.slice(0, before).filter(isSidecar)
			: [...initContainers.filter(isSidecar), ...mainsBefore(containers, container)];
	return {gpus: {first: beside.reduce((sum, each) => sum + gpusOfContainer(each), 0), count}};
}

const mainsBefore = (containers: readonly Container[], {name}: Container): readonly Container[] =>
	containers.slice(
		0,
		containers.findIndex(each => each.name === name),
	);
