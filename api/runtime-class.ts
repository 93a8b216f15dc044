// Which runtime starts a pod's containers: its class, fixed when the pod is made. Pure.

export const runtimeClasses = ['process', 'docker'] as const;

export type RuntimeClass = (typeof runtimeClasses)[number];

export const isRuntimeClass = (name: unknown): name is RuntimeClass => runtimeClasses.some(each => each === name);

/** A condition of a node: its agent runs pods of Docker, and the Engine does not answer. */
export const dockerNotReady = 'DockerNotReady';

/** Of a pod that names none: `process`, as all pods were before there were classes. */
export const runtimeClassOf = ({runtimeClassName}: {readonly runtimeClassName?: string}): RuntimeClass =>
	isRuntimeClass(runtimeClassName) ? runtimeClassName : 'process';
