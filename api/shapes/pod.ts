// The static shape of a pod: field names are those of Kubernetes' v1 Pod. `api/schemas/pod.ts` says the same to the validator.
//
// Fields that no part of this version acts on yet are here too, so that a manifest which uses one is refused by name.

import type {ApiObject, Condition, Labels} from '../object.js';
import type {LabelSelector} from '../selector.js';

export type Protocol = 'TCP' | 'UDP' | 'SCTP';
export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';
export type ImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export type ContainerPort = {
	readonly containerPort: number;
	readonly name?: string;
	readonly hostPort?: number;
	readonly hostIP?: string;
	readonly protocol?: Protocol;
};

export type FieldRef = {readonly fieldPath: string; readonly apiVersion?: string};
export type KeyRef = {readonly name: string; readonly key: string; readonly optional?: boolean};
export type ResourceFieldRef = {readonly resource: string; readonly containerName?: string; readonly divisor?: string | number};

/** Exactly one of the sources is set. */
export type EnvVarSource = {
	readonly fieldRef?: FieldRef;
	readonly resourceFieldRef?: ResourceFieldRef;
	readonly configMapKeyRef?: KeyRef;
	readonly secretKeyRef?: KeyRef;
};

export type EnvVar = {readonly name: string; readonly value?: string; readonly valueFrom?: EnvVarSource};

export type EnvFromSource = {
	readonly prefix?: string;
	readonly configMapRef?: {readonly name: string; readonly optional?: boolean};
	readonly secretRef?: {readonly name: string; readonly optional?: boolean};
};

/** A quantity as it was written: `500m`, `128Mi`, 1, or a plain integer from 1000000 on (bytes, nano-CPUs). */
export type Quantity = string | number;
export type Quantities = {readonly [resource: string]: Quantity};

export type ResourceRequirements = {readonly requests?: Quantities; readonly limits?: Quantities};

export type ExecAction = {readonly command?: readonly string[]};
export type HttpHeader = {readonly name: string; readonly value: string};
export type HttpGetAction = {
	readonly port: number | string;
	readonly path?: string;
	readonly host?: string;
	readonly scheme?: 'HTTP' | 'HTTPS';
	readonly httpHeaders?: readonly HttpHeader[];
};
export type TcpSocketAction = {readonly port: number | string; readonly host?: string};

export type Probe = {
	readonly exec?: ExecAction;
	readonly httpGet?: HttpGetAction;
	readonly tcpSocket?: TcpSocketAction;
	readonly initialDelaySeconds?: number;
	readonly timeoutSeconds?: number;
	readonly periodSeconds?: number;
	readonly successThreshold?: number;
	readonly failureThreshold?: number;
	readonly terminationGracePeriodSeconds?: number;
};

export type LifecycleHandler = {
	readonly exec?: ExecAction;
	readonly httpGet?: HttpGetAction;
	readonly tcpSocket?: TcpSocketAction;
	readonly sleep?: {readonly seconds: number};
};
export type Lifecycle = {readonly postStart?: LifecycleHandler; readonly preStop?: LifecycleHandler};

export type VolumeMount = {
	readonly name: string;
	readonly mountPath: string;
	readonly readOnly?: boolean;
	readonly subPath?: string;
};

export type KeyToPath = {readonly key: string; readonly path: string; readonly mode?: number};

/** Exactly one of the sources is set. */
export type Volume = {
	readonly name: string;
	readonly hostPath?: {readonly path: string; readonly type?: string};
	readonly emptyDir?: {readonly medium?: string; readonly sizeLimit?: Quantity};
	readonly configMap?: {
		readonly name: string;
		readonly items?: readonly KeyToPath[];
		readonly defaultMode?: number;
		readonly optional?: boolean;
	};
	readonly secret?: {
		readonly secretName: string;
		readonly items?: readonly KeyToPath[];
		readonly defaultMode?: number;
		readonly optional?: boolean;
	};
};

export type Capabilities = {readonly add?: readonly string[]; readonly drop?: readonly string[]};

export type SecurityContext = {
	readonly runAsUser?: number;
	readonly runAsGroup?: number;
	readonly runAsNonRoot?: boolean;
	readonly privileged?: boolean;
	readonly readOnlyRootFilesystem?: boolean;
	readonly allowPrivilegeEscalation?: boolean;
	readonly capabilities?: Capabilities;
};

export type PodSecurityContext = {
	readonly runAsUser?: number;
	readonly runAsGroup?: number;
	readonly runAsNonRoot?: boolean;
	readonly fsGroup?: number;
	readonly supplementalGroups?: readonly number[];
};

export type Container = {
	readonly name: string;
	readonly image: string;
	readonly command?: readonly string[];
	readonly args?: readonly string[];
	readonly workingDir?: string;
	readonly env?: readonly EnvVar[];
	readonly envFrom?: readonly EnvFromSource[];
	readonly ports?: readonly ContainerPort[];
	readonly resources?: ResourceRequirements;
	readonly imagePullPolicy?: ImagePullPolicy;
	readonly securityContext?: SecurityContext;
	readonly volumeMounts?: readonly VolumeMount[];
	readonly livenessProbe?: Probe;
	readonly readinessProbe?: Probe;
	readonly startupProbe?: Probe;
	readonly lifecycle?: Lifecycle;
	readonly stdin?: boolean;
	readonly stdinOnce?: boolean;
	readonly tty?: boolean;
	readonly terminationMessagePath?: string;
	readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
};

export type Toleration = {
	readonly key?: string;
	readonly operator?: 'Exists' | 'Equal';
	readonly value?: string;
	readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
	readonly tolerationSeconds?: number;
};

export type TopologySpreadConstraint = {
	readonly maxSkew: number;
	readonly topologyKey: string;
	readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
	readonly labelSelector?: LabelSelector;
};

/** One term of node affinity: values are compared as text, `Gt` and `Lt` as whole numbers. */
export type NodeSelectorRequirement = {
	readonly key: string;
	readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
	readonly values?: readonly string[];
};

/** All of its requirements; `matchFields` knows `metadata.name` alone. */
export type NodeSelectorTerm = {
	readonly matchExpressions?: readonly NodeSelectorRequirement[];
	readonly matchFields?: readonly NodeSelectorRequirement[];
};

export type NodeAffinity = {
	/** One of the terms. */
	readonly requiredDuringSchedulingIgnoredDuringExecution?: {readonly nodeSelectorTerms: readonly NodeSelectorTerm[]};
	readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
		readonly weight: number;
		readonly preference: NodeSelectorTerm;
	}[];
};

export type PodAffinityTerm = {
	readonly labelSelector?: LabelSelector;
	/** Without any: the pod's own namespace. */
	readonly namespaces?: readonly string[];
	readonly topologyKey: string;
};

export type PodAffinity = {
	/** All of the terms. */
	readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
	readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
		readonly weight: number;
		readonly podAffinityTerm: PodAffinityTerm;
	}[];
};

export type Affinity = {
	readonly nodeAffinity?: NodeAffinity;
	readonly podAffinity?: PodAffinity;
	readonly podAntiAffinity?: PodAffinity;
};

export type PodSpec = {
	readonly containers: readonly Container[];
	readonly nodeName?: string;
	readonly nodeSelector?: Labels;
	readonly restartPolicy?: RestartPolicy;
	readonly terminationGracePeriodSeconds?: number;
	readonly hostname?: string;
	readonly securityContext?: PodSecurityContext;
	readonly tolerations?: readonly Toleration[];
	readonly imagePullSecrets?: readonly {readonly name: string}[];
	readonly initContainers?: readonly Container[];
	readonly volumes?: readonly Volume[];
	readonly affinity?: Affinity;
	readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
	readonly activeDeadlineSeconds?: number;
	readonly hostNetwork?: boolean;
	readonly hostPID?: boolean;
	readonly hostIPC?: boolean;
	readonly shareProcessNamespace?: boolean;
	readonly subdomain?: string;
	readonly priorityClassName?: string;
	/** Set from the class when the pod is made; higher ones go first. */
	readonly priority?: number;
	readonly preemptionPolicy?: 'PreemptLowerPriority' | 'Never';
	readonly runtimeClassName?: string;
	readonly hostAliases?: readonly {readonly ip: string; readonly hostnames?: readonly string[]}[];
	readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
	readonly schedulerName?: string;
	readonly serviceAccountName?: string;
	readonly serviceAccount?: string;
	readonly automountServiceAccountToken?: boolean;
	readonly enableServiceLinks?: boolean;
};

/** What a container that does not run waits for. */
export type ContainerStateWaiting = {
	/** `ContainerCreating`, `CrashLoopBackOff`, `NoCommand`, ... */
	readonly reason?: string;
	readonly message?: string;
	/** Beyond Kubernetes: when the next start is due, RFC 3339 with milliseconds. */
	readonly retryAt?: string;
	/** Beyond Kubernetes: the number of that start among those that followed a first one, failed ones included. */
	readonly retry?: number;
};
export type ContainerStateRunning = {readonly startedAt?: string};
export type ContainerStateTerminated = {
	/** 128 + signal for a signal; -1 when the code could not be known. */
	readonly exitCode: number;
	readonly signal?: number;
	/** `Completed`, `Error`, `OOMKilled`, ... */
	readonly reason?: string;
	readonly message?: string;
	readonly startedAt?: string;
	readonly finishedAt?: string;
	readonly containerID?: string;
};

/** At most one of the three is set; none means waiting. */
export type ContainerState = {
	readonly waiting?: ContainerStateWaiting;
	readonly running?: ContainerStateRunning;
	readonly terminated?: ContainerStateTerminated;
};

export type ContainerStatus = {
	readonly name: string;
	readonly state?: ContainerState;
	readonly lastState?: ContainerState;
	readonly ready: boolean;
	readonly started?: boolean;
	readonly restartCount: number;
	readonly image: string;
	readonly imageID: string;
	readonly containerID?: string;
	/** As whom it was started. */
	readonly user?: {readonly linux: {readonly uid: number; readonly gid: number; readonly supplementalGroups: readonly number[]}};
	/** Where it was started, and its HOME and PATH. */
	readonly process?: {readonly workingDir: string; readonly home: string; readonly path: string};
};

export type PodStatus = {
	readonly phase: PodPhase;
	readonly conditions?: readonly Condition[];
	readonly reason?: string;
	readonly message?: string;
	readonly hostIP?: string;
	readonly hostIPs?: readonly {readonly ip: string}[];
	readonly podIP?: string;
	readonly podIPs?: readonly {readonly ip: string}[];
	readonly startTime?: string;
	readonly nominatedNodeName?: string;
	readonly qosClass?: 'Guaranteed' | 'Burstable' | 'BestEffort';
	readonly containerStatuses?: readonly ContainerStatus[];
	readonly initContainerStatuses?: readonly ContainerStatus[];
};

/** A pod without a name of its own, inside a ReplicaSet. */
export type PodTemplate = {
	/** Name and namespace are accepted, as in Kubernetes, and mean nothing. */
	readonly metadata?: {readonly name?: string; readonly namespace?: string; readonly labels?: Labels; readonly annotations?: Labels};
	readonly spec: PodSpec;
};

export type Pod = ApiObject<PodSpec, PodStatus>;
