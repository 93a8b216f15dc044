// The name that a pod's programs know their host by.

import {runtimeClassOf} from './runtime-class.js';
import type {PodSpec} from './shapes/pod.js';

/** The kernel takes 64 characters; Kubernetes has it be a label of DNS. */
const longest = 63;

/** What the pod says, or its own name: of class docker as much of it as a host may be called, as in Kubernetes. */
export function hostNameOf(name: string, spec: PodSpec): string {
	const {hostname = ''} = spec;
	if (hostname !== '') return hostname;
	return runtimeClassOf(spec) === 'docker' ? name.slice(0, longest).replace(/[-.]+$/, '') : name;
}
