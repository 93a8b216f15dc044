// The shape of a pod and of its parts, as `api/schemas` has them; rules, defaults and columns share it with the kind.

import type {ApiObject} from '../object.js';
import type {affinity, podAffinity, podTerm, nodeTerm, requirement} from '../schemas/affinity.js';
import type {
	container,
	containerPort,
	envFrom,
	envVar,
	handler,
	httpGet,
	keyRef,
	lifecycle,
	probe,
	resourceFieldRef,
	resources,
} from '../schemas/container.js';
import type {quantity, ShapeOf} from '../schemas/parts.js';
import type {containerState, containerStatus, keyToPath, spec, status, toleration, topologySpread, volume} from '../schemas/pod.js';

export type PodSpec = ShapeOf<typeof spec>;
export type PodStatus = ShapeOf<typeof status>;
export type Pod = ApiObject<PodSpec, PodStatus>;

export type RestartPolicy = NonNullable<PodSpec['restartPolicy']>;
export type PodPhase = PodStatus['phase'];

export type Container = ShapeOf<typeof container>;
export type ContainerPort = ShapeOf<typeof containerPort>;
export type ImagePullPolicy = NonNullable<Container['imagePullPolicy']>;

export type EnvVar = ShapeOf<typeof envVar>;
/** Exactly one of the sources is set. */
export type EnvVarSource = NonNullable<EnvVar['valueFrom']>;
export type EnvFromSource = ShapeOf<typeof envFrom>;
export type KeyRef = ShapeOf<typeof keyRef>;
export type ResourceFieldRef = ShapeOf<typeof resourceFieldRef>;

/** A quantity as it was written: `500m`, `128Mi`, 1, or a plain integer from 1000000 on (bytes, nano-CPUs). */
export type Quantity = ShapeOf<typeof quantity>;
export type Quantities = {readonly [resource: string]: Quantity};
export type ResourceRequirements = ShapeOf<typeof resources>;

export type Probe = ShapeOf<typeof probe>;
export type Lifecycle = ShapeOf<typeof lifecycle>;
export type LifecycleHandler = ShapeOf<typeof handler>;
export type HttpGetAction = ShapeOf<typeof httpGet>;

/** Exactly one of the sources is set. */
export type Volume = ShapeOf<typeof volume>;
export type KeyToPath = ShapeOf<typeof keyToPath>;

export type Toleration = ShapeOf<typeof toleration>;
export type TopologySpreadConstraint = ShapeOf<typeof topologySpread>;

export type Affinity = ShapeOf<typeof affinity>;
/** One term of node affinity: values are compared as text, `Gt` and `Lt` as whole numbers. */
export type NodeSelectorRequirement = ShapeOf<typeof requirement>;
/** All of its requirements; `matchFields` knows `metadata.name` alone. */
export type NodeSelectorTerm = ShapeOf<typeof nodeTerm>;
export type PodAffinity = ShapeOf<typeof podAffinity>;
export type PodAffinityTerm = ShapeOf<typeof podTerm>;

export type ContainerStatus = ShapeOf<typeof containerStatus>;
/** At most one of the three is set; none means waiting. */
export type ContainerState = ShapeOf<typeof containerState>;
/** What a container that does not run waits for. */
export type ContainerStateWaiting = NonNullable<ContainerState['waiting']>;
export type ContainerStateTerminated = NonNullable<ContainerState['terminated']>;
