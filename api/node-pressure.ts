// What a node may be short of, as its conditions say it, and the taints that then keep new pods away: Kubernetes' words.

export const pressureTaints = {
	MemoryPressure: 'node.kubernetes.io/memory-pressure',
	DiskPressure: 'node.kubernetes.io/disk-pressure',
	PIDPressure: 'node.kubernetes.io/pid-pressure',
} as const;

export type Pressure = keyof typeof pressureTaints;

export const pressures = Object.keys(pressureTaints) as readonly Pressure[];

export const isPressure = (type: string): type is Pressure => Object.hasOwn(pressureTaints, type);

/** Of a pod that was ended since its node was short of something. */
export const evictedReason = 'Evicted';
