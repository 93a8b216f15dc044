// Sidecars: init containers that run on beside the others (`restartPolicy: Always`), as Kubernetes has them since 1.29. Pure.

import type {Container, PodSpec} from './shapes/pod.js';

/** Of an init container. */
export const isSidecar = ({restartPolicy}: Pick<Container, 'restartPolicy'>): boolean => restartPolicy === 'Always';

export const sidecarsIn = ({initContainers = []}: Pick<PodSpec, 'initContainers'>): readonly Container[] =>
	initContainers.filter(isSidecar);
