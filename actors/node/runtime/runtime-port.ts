// What a node's actors need of the thing that runs containers. Implemented in `agent/` by process, docker and simulated;
// one contract suite holds for all.
//
// Every command may be repeated: the runtime joins what runs already and reports what is. Nothing polls: ends of containers
// come by `onExit`, for adopted ones too.

import type {EvictionSignal} from '../../../api/eviction-thresholds.js';
import type {Outcome} from '../../../api/errors.js';
import type {FunctionInstance} from '../../../api/function-instance.js';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {ImageBuild} from '../../../api/image-news.js';
import type {RuntimeClass} from '../../../api/runtime-class.js';
import type {RuntimeInfo} from '../../protocol/runtime-info.js';

export type SandboxSpec = {
	readonly uid: string;
	readonly namespace: string;
	readonly name: string;
	readonly hostname: string;
	/** `<namespace>/<kind>/<name>` of what made the pod: where users are given out, pods of one have the same. */
	readonly controller: string;
	/** Which runtime has the pod; it never changes. */
	readonly runtimeClass: RuntimeClass;
	/** Its containers see each other's processes. */
	readonly shareProcessNamespace: boolean;
	/** The host's namespaces in place of the pod's own, where the operator allows that. */
	readonly hostNetwork: boolean;
	readonly hostPID: boolean;
	readonly hostIPC: boolean;
	/** Names that its containers find in /etc/hosts. */
	readonly hostAliases: readonly HostAlias[];
	/** Whom its programs ask for names; undefined: as `ClusterFirst` says, and nothing besides. */
	readonly dns?: PodDns;
	/** Ports of the host that lead to a port of the pod, of all its containers. */
	readonly hostPorts: readonly HostPort[];
	/** Its containers run only while the pod's lease is held; see `lease.extend`. */
	readonly exclusive?: true;
	/** How many GPUs of the node are its own until `devices.release`, or until it is removed. */
	readonly gpus?: number;
	/** It is an instance of a function: what runs in this image, with that limit of memory, is the runner of that language. */
	readonly runner?: {readonly language: FunctionLanguage; readonly image: string; readonly memoryLimitBytes: number | undefined};
};

export type HostAlias = {readonly ip: string; readonly hostnames: readonly string[]};

/** As in Kubernetes: the cluster where that has names for it, the host, or nobody; and what is asked for besides. */
export type PodDns = {
	readonly policy: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
	/** Addresses. */
	readonly nameservers: readonly string[];
	readonly searches: readonly string[];
	/** As resolv.conf(5) has them: `ndots:2`, `rotate`. */
	readonly options: readonly string[];
};

export type HostPort = {
	readonly containerPort: number;
	readonly hostPort: number;
	/** The address of the host that is listened on; undefined: all of them. */
	readonly hostIP: string | undefined;
	readonly protocol: 'TCP' | 'UDP' | 'SCTP';
};

export type Sandbox = {
	/** Where the pod listens: an address of its own on the node. */
	readonly podIP: string;
	readonly hostIP: string;
	/** It has a network of its own, from which Services are reached at their own addresses. */
	readonly isRouted?: true;
	/** It has died, and something of the pod may still run: that has to be stopped before `sandbox.ensure` makes it anew. */
	readonly isLost?: true;
	/**
	 * It was made anew at least once: each container's first attempt in the sandbox of now, by name; a container that is not there had none
	 * before. It is kept with the sandbox, so that every later agent hears it too.
	 */
	readonly firstAttempts?: {readonly [container: string]: number};
};

/** One container of one pod; each start of it is an attempt, counted from 0. */
export type ContainerId = {readonly uid: string; readonly container: string};

/** A Secret, named and not opened. */
export type SecretRef = {
	/** In the pod's namespace. */
	readonly secret: string;
	/** As the node last heard of it. */
	readonly version: string;
	/** Whether the container starts without it. */
	readonly optional: boolean;
};

/** A file of a volume; its path is relative and goes nowhere else. */
export type VolumeFile = {readonly path: string; readonly mode: number};

export type VolumeSource =
	/** A folder or file of the node, allowed by its operator. `check` is Kubernetes' `type`: `Directory`, `FileOrCreate`, ... */
	| {readonly type: 'hostPath'; readonly path: string; readonly check: string}
	/** Of a claim: a folder that is kept when the pod ends. `path`: where it was said to be; an agent that keeps its volumes elsewhere refuses it. */
	| {readonly type: 'local'; readonly volume: string; readonly path: string}
	/** What another host exports: mounted for each container when it starts. */
	| {readonly type: 'nfs'; readonly server: string; readonly path: string; readonly readOnly: boolean}
	/** Lives and ends with the sandbox. */
	| {readonly type: 'emptyDir'; readonly inMemory: boolean; readonly sizeLimitBytes: number | undefined}
	/** Of a ConfigMap; `data` is base64. */
	| {readonly type: 'files'; readonly files: readonly (VolumeFile & {readonly data: string})[]}
	/** Opened by nothing but the runtime's edge. Without `items` each entry is a file of its name. */
	| {
			readonly type: 'secret';
			readonly ref: SecretRef;
			readonly items: readonly (VolumeFile & {readonly key: string})[] | undefined;
			readonly mode: number;
	  };

export type VolumeSpec = {readonly name: string; readonly source: VolumeSource};

/** A volume of the pod as one container sees it. */
export type MountSpec = {
	readonly volume: string;
	/** Absolute, as the program sees it. */
	readonly path: string;
	/** What of the volume, relative; undefined: all of it. */
	readonly subPath: string | undefined;
	readonly readOnly: boolean;
};

/** A text, or the entry of a Secret that stands there. */
export type ValuePart =
	| string
	| (SecretRef & {
			readonly key: string;
			/** What stands there without the entry; undefined: the whole variable is not set. */
			readonly otherwise: string | undefined;
	  });

export type EnvVariable = {
	readonly name: string;
	readonly value: string;
	/** Only the program may see its value. */
	readonly isSecret?: boolean;
};

/** What makes an environment: variables, and Secrets that only the runtime's edge opens, at the start. */
export type EnvSource =
	| EnvVariable
	| {readonly name: string; readonly parts: readonly ValuePart[]}
	/** A variable for each entry. */
	| {readonly entriesOf: SecretRef; readonly prefix: string};

export type ContainerSpec<Env = EnvSource> = {
	readonly id: ContainerId;
	readonly namespace: string;
	readonly podName: string;
	readonly attempt: number;
	readonly image: string;
	/**
	 * What runs. The first word is looked up in PATH of `env`, then of the node. None: what the image runs by itself; where it
	 * names nothing either, or is only a name to the runtime, the answer is `ERR_NO_COMMAND`.
	 */
	readonly argv: readonly string[];
	/** `argv` are arguments of what the image runs by itself; a runtime to which images are only names runs their first word. */
	readonly argsOnly?: true;
	/** What `image.ensure` answered; undefined: to the runtime images are only names. */
	readonly imageId: string | undefined;
	/** Complete and expanded but for Secrets; later ones win. */
	readonly env: readonly Env[];
	readonly workingDir: string | undefined;
	/** Starts only while the pod's lease is held; see `lease.extend`. */
	readonly exclusive?: true;
	readonly tty: boolean;
	readonly stdin: boolean;
	/** Its input ends with the first that attaches to it, also where that one goes without a word. */
	readonly stdinOnce?: true;
	/** Undefined: the runtime's default (as root: an unprivileged user). */
	readonly runAsUser: number | undefined;
	readonly runAsGroup: number | undefined;
	/** Refused where the user would be root. */
	readonly runAsNonRoot: boolean;
	/** Whether it may get more rights than it starts with, by set-user-ID files and the like. */
	readonly allowPrivilegeEscalation: boolean;
	/** With all rights on the host, where the operator allows that. */
	readonly privileged: boolean;
	/** Beside the runtime's own set, and of it; `ALL` is all of them. */
	readonly capabilities: {readonly add: readonly string[]; readonly drop: readonly string[]};
	readonly seccomp: 'default' | 'unconfined';
	/** Of the process beside its own group; the pod's fsGroup is among them. */
	readonly groups: readonly number[];
	/** Whether the groups that the image gives its user are added. */
	readonly groupsPolicy: 'Merge' | 'Strict';
	readonly mounts: readonly MountSpec[];
	readonly readOnlyRoot: boolean;
	/** It serves calls of this function: `argv` is empty, and what runs is the runner of its language. */
	readonly function?: FunctionInstance;
	readonly memoryLimitBytes: number | undefined;
	readonly cpuLimitMillis: number | undefined;
	readonly cpuRequestMillis: number | undefined;
	/** Which of the pod's GPUs it has. */
	readonly gpus?: {readonly first: number; readonly count: number};
	/** Which these are: the node's edge says it. Undefined: the node has none. */
	readonly devices?: ContainerDevices;
};

/** A device of the node that one pod has at a time. */
export type Device = {
	/** Absolute. */
	readonly file: string;
	/** As the driver counts them. */
	readonly index: number;
	/** What the driver calls it everywhere; undefined: that is not known. */
	readonly uuid?: string | undefined;
};

/** What a container has of the node's devices, and the files of those that it has not. */
export type ContainerDevices = {readonly own: readonly Device[]; readonly others: readonly string[]};

/** With all Secrets in its environment: only the runtime's edge has such a one. */
export type OpenedSpec = ContainerSpec<EnvVariable>;

export type ContainerExit = {
	readonly attempt: number;
	/** As a shell shows it: 128 + signal for a signal. Undefined: the code could not be known. */
	readonly exitCode: number | undefined;
	readonly signal: number | undefined;
	readonly startedAtMs: number;
	readonly finishedAtMs: number;
	/** `Completed`, `Error`, `OOMKilled`, `Unknown`, `LostOnReboot`. */
	readonly reason: string;
	/** The last lines it wrote, when it did not end well. */
	readonly lastLines?: string | undefined;
	/** What it was called outside, and what its image's name stood for; undefined: that is not known any more. */
	readonly handle?: string | undefined;
	readonly imageId?: string | undefined;
	/** Undefined: the runtime does not know it. */
	readonly beginning?: ContainerBeginning;
};

/** What is asked of a container: probes and hooks. Ports are numbers here, hosts addresses. */
export type ContainerAction =
	| {readonly type: 'exec'; readonly argv: readonly string[]}
	| {
			readonly type: 'httpGet';
			readonly host: string;
			readonly port: number;
			readonly path: string;
			readonly scheme: 'HTTP' | 'HTTPS';
			readonly headers: readonly {readonly name: string; readonly value: string}[];
	  }
	| {readonly type: 'tcpSocket'; readonly host: string; readonly port: number}
	/** Of an instance of a function: answered when its runner takes connections. */
	| {readonly type: 'runnerListens'};

/** How an action went; `message` is bounded, for people, and tells no secret of headers. */
export type ActionResult = {readonly ok: boolean; readonly message: string};

export type ExecRequest = {
	readonly id: ContainerId;
	readonly argv: readonly string[];
	readonly tty: boolean;
	readonly stdin: boolean;
	/** Of the terminal, with `tty`. */
	readonly rows: number;
	readonly columns: number;
};

/**
 * A connection to a port of a pod, or of an instance of a function to its runner. `relayedFor`: for that other node, and counted by it; undefined:
 * for a person.
 */
export type ForwardRequest = {readonly uid: string; readonly port: number | 'function'; readonly relayedFor?: string | undefined};

/** What a session wrote since the last look, in order; with a tty all of it is `stdout`. */
export type ExecOutput = {
	readonly parts: readonly {readonly stream: 'stdout' | 'stderr'; readonly data: string}[];
	/** Of a connection, once: no more comes, and its input is taken still. */
	readonly isLast?: true;
	/** Set with the last output. */
	readonly end: {readonly exitCode: number} | undefined;
};

/** The user a program was started as, and what of its start a manifest need not say. */
export type ContainerBeginning = {
	readonly uid: number;
	readonly gid: number;
	readonly groups: readonly number[];
	readonly workingDir: string;
	readonly home: string;
	readonly path: string;
};

export type RunningContainer = {
	readonly attempt: number;
	readonly pid: number;
	readonly startedAtMs: number;
	/** What it is called outside, with its scheme: `process://4711.88123`, `docker://<id>`. */
	readonly handle: string;
	/** What the image's name stood for; undefined: to the runtime images are only names. */
	readonly imageId?: string | undefined;
	/** Undefined: the runtime does not know it. */
	readonly beginning?: ContainerBeginning;
};

/** What the runtime knows of one container, attempts of an earlier agent included. */
export type ContainerObservation = {
	readonly running: RunningContainer | undefined;
	/** The latest attempt that ended. */
	readonly lastExit: ContainerExit | undefined;
	/** The attempt the next start should carry: one above the highest there is, 0 when there was none. */
	readonly nextAttempt: number;
};

export type LogRequest = {
	readonly id: ContainerId;
	/** The current attempt, or the one before it. */
	readonly previous: boolean;
	/** Where to go on reading: bytes since the attempt's start. Undefined: from the start, or from `tailLines` before the end. */
	readonly offset: number | undefined;
	/** Nothing from this byte on. Undefined: to the end of what there is when this is asked, or after `waitMs`. */
	readonly endOffset?: number | undefined;
	readonly tailLines: number | undefined;
	/** Only what was written from then on, wall time; undefined: all of it. */
	readonly sinceMs?: number | undefined;
	/** Each line begins with its time, RFC 3339 in UTC, and a space. */
	readonly timestamps?: boolean | undefined;
	readonly maxBytes: number;
	/** At the end of what there is, wait so long for more before answering. 0: answer at once. */
	readonly waitMs: number;
};

export type LogChunk = {
	/** Base64: logs need not be text. */
	readonly data: string;
	readonly nextOffset: number;
	/** The request's, or where the log ended when it was looked at. */
	readonly endOffset: number;
	/** The attempt is over and everything was read. */
	readonly end: boolean;
	readonly attempt: number;
};

/** What is used: of the processor since some beginning, and of memory at that moment. Undefined: nothing tells it. */
export type ResourceFigures = {
	/** When it was read, of a clock that never jumps. */
	readonly readAtMs: number;
	/** Nanoseconds of one processor. Never less than before while the attempt, or the node, is the same. */
	readonly cpuNanos: number | undefined;
	/** The working set: what the kernel could not take back without anybody noticing. */
	readonly memoryBytes: number | undefined;
} & Counters;

/** Bytes since some beginning, like `cpuNanos`. Left out: nothing tells it. */
export type Counters = {
	/** Over the network. */
	readonly receivedBytes?: number | undefined;
	readonly sentBytes?: number | undefined;
	/** From and to disks. */
	readonly readBytes?: number | undefined;
	readonly writtenBytes?: number | undefined;
};

/** Of what programs need: how much is left, and how much there is. */
export type Left = {readonly free: number; readonly all: number};

/** What a host has left. Left out: it cannot be told. */
export type HostRoom = {readonly [Signal in EvictionSignal]?: Left};

/** Of one attempt of a container. */
export type ContainerUsage = ResourceFigures & {readonly id: ContainerId; readonly attempt: number};

/** Of a pod with a network of its own. */
export type PodTraffic = {readonly uid: string; readonly receivedBytes: number; readonly sentBytes: number};

export type UsageSample = {
	/** Wall time. */
	readonly atMs: number;
	/** Of the whole host, whatever runs there. */
	readonly node: ResourceFigures;
	/** Of the host. Left out: it is not looked at. */
	readonly room?: HostRoom | undefined;
	/** Read with the node's. */
	readonly traffic?: readonly PodTraffic[] | undefined;
	/** Of all that run, also those that cannot be measured. */
	readonly containers: readonly ContainerUsage[];
};

export type RuntimeCommand =
	/**
	 * Makes the pod's sandbox (directory, address) or finds the one there is. A removal that is asked for after it comes after it. Where what the
	 * containers share has died: while one of them still runs the answer is the sandbox as it was, with `isLost`; else it is made anew, with the
	 * same volumes and attempts, perhaps with another address, and with `firstAttempts`: of each container one above its highest attempt.
	 */
	| {readonly type: 'sandbox.ensure'; readonly spec: SandboxSpec}
	/** Kills what is left in it, frees its address, removes its files. Fine when there is none. */
	| {readonly type: 'sandbox.remove'; readonly uid: string}
	/** Uids of all sandboxes there are, of earlier agents too. */
	| {readonly type: 'sandbox.list'}
	/** Makes the pod's volumes, or brings the files of those that are there up to date. */
	| {
			readonly type: 'volumes.ensure';
			readonly uid: string;
			readonly namespace: string;
			readonly volumes: readonly VolumeSpec[];
			/** The group that owns what is in them; undefined: the user that runs the containers. */
			readonly fsGroup: number | undefined;
	  }
	/**
	 * Has the container's image there, pulled as its policy says; asked before each start. Fails with `ERR_IMAGE_PULL` in the registry's words,
	 * `ERR_IMAGE_ABSENT` (policy Never, and it is not there) or `ERR_IMAGE_NAME`; a Secret that is not there is no failure.
	 */
	| {
			readonly type: 'image.ensure';
			readonly id: ContainerId;
			readonly namespace: string;
			readonly podName: string;
			readonly image: string;
			readonly policy: ImagePullPolicy;
			/** With the registry's credentials, in the pod's namespace. */
			readonly secrets: readonly SecretRef[];
	  }
	/** The images there are; none where images are only names. */
	| {readonly type: 'image.list'}
	/**
	 * Brings an image outside any pod. The archive of a load, and the folder of a build, goes in by `exec.write`; `ImageNews`, the words of a failure
	 * as errors, and the end, 0 or 1, come by `exec.read`.
	 */
	| {readonly type: 'image.open'; readonly request: ImageRequest}
	/** Removes the folder of a `local` volume with all that is in it; refused while a pod has it. Fine when there is none. `onlyCheck`: removes nothing. */
	| {readonly type: 'volume.remove'; readonly volume: string; readonly onlyCheck?: boolean}
	/** How much of the disk the folder of a `local` volume takes. May take minutes; what cannot be counted is an error. */
	| {readonly type: 'volume.measure'; readonly volume: string}
	/** Starts this attempt, or finds that it runs. An attempt that ended already is an error. */
	| {readonly type: 'container.start'; readonly spec: ContainerSpec}
	/** What there is of this container; a running one is adopted: its end will be told. */
	| {readonly type: 'container.inspect'; readonly id: ContainerId}
	/** SIGTERM, after the grace SIGKILL to the group; answers when it is over. Fine when nothing runs. */
	| {readonly type: 'container.stop'; readonly id: ContainerId; readonly graceMs: number}
	| {readonly type: 'logs.read'; readonly request: LogRequest}
	/** What the node and its containers use, all in one go. */
	| {readonly type: 'usage.read'}
	/** A probe or a hook of what runs. It failing is a result; an error is that it could not be tried. */
	| {readonly type: 'container.act'; readonly id: ContainerId; readonly action: ContainerAction; readonly timeoutMs: number}
	/** Runs a program beside the container's, joined to it. A session that no client reads is ended. */
	| {readonly type: 'exec.open'; readonly request: ExecRequest}
	/** Data is base64; `isLast` closes its stdin. Answers when it was taken. */
	| {readonly type: 'exec.write'; readonly session: string; readonly data: string; readonly isLast: boolean}
	/** Answers at once when there is something, else at the latest after `waitMs`. 0 bytes: takes nothing and says that it is to be kept. */
	| {readonly type: 'exec.read'; readonly session: string; readonly maxBytes: number; readonly waitMs: number}
	| {readonly type: 'exec.resize'; readonly session: string; readonly rows: number; readonly columns: number}
	/** Ends what still runs. Fine when there is none. */
	| {readonly type: 'exec.close'; readonly session: string}
	/**
	 * Connects to a port of the pod, never to one of another pod or of the host; the session is then written, read and closed as those of exec are.
	 * Its end is 0 where both sides have said that no more comes, 1 where the connection broke. `ERR_NOT_REACHABLE`: nothing answers there.
	 */
	| {readonly type: 'forward.open'; readonly request: ForwardRequest}
	/** To a container with `stdin`; base64. Answers when it was taken. */
	| {readonly type: 'stdin.write'; readonly id: ContainerId; readonly data: string; readonly isLast: boolean}
	/**
	 * Has all that runs of the pod killed at this time of the agent's monotonic clock, by the runtime and by something that outlives the agent,
	 * unless it is extended before. Answers once that stands.
	 */
	| {readonly type: 'lease.extend'; readonly uid: string; readonly untilMs: number}
	/** Nothing of the pod will run any more: its devices are others'. Its sandbox stays. */
	| {readonly type: 'devices.release'; readonly uid: string};

export type ImagePullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export type ImageRequest =
	/** Without a login. */
	| {readonly action: 'pull'; readonly image: string}
	/** What `docker save` writes, also compressed. */
	| {readonly action: 'load'}
	/** A tar archive of a folder. */
	| ({readonly action: 'build'} & ImageBuild);

export type EnsuredImage = {
	/** Undefined: to the runtime images are only names. */
	readonly imageId: string | undefined;
	/** Set when it had to be pulled. */
	readonly pulled?: {readonly bytes: number; readonly ms: number} | undefined;
	/** Of the Secrets that were named: those that are not there. A failed pull has them in its details. */
	readonly missingSecrets?: readonly string[] | undefined;
};

export type ListedImage = {
	readonly id: string;
	/** All of them, with tag or digest. */
	readonly names: readonly string[];
	readonly bytes: number;
	readonly createdAtMs: number;
	/** A container is made of it. */
	readonly inUse: boolean;
	/** Its `buildLabel`, if it has one. */
	readonly build?: string | undefined;
};

export type RuntimeResults = {
	readonly 'sandbox.ensure': Sandbox;
	readonly 'sandbox.remove': null;
	readonly 'sandbox.list': readonly string[];
	readonly 'volumes.ensure': null;
	readonly 'image.ensure': EnsuredImage;
	readonly 'image.list': {readonly images: readonly ListedImage[]};
	readonly 'image.open': {readonly session: string};
	readonly 'volume.remove': null;
	readonly 'volume.measure': {readonly usedBytes: number};
	readonly 'container.start': RunningContainer;
	readonly 'container.inspect': ContainerObservation;
	readonly 'container.stop': ContainerExit | null;
	readonly 'logs.read': LogChunk;
	readonly 'usage.read': UsageSample;
	readonly 'container.act': ActionResult;
	readonly 'exec.open': {readonly session: string};
	readonly 'exec.write': null;
	readonly 'exec.read': ExecOutput;
	readonly 'exec.resize': null;
	readonly 'exec.close': null;
	readonly 'forward.open': {readonly session: string};
	readonly 'stdin.write': null;
	readonly 'lease.extend': null;
	readonly 'devices.release': null;
};

/** What a runtime tells beside ends of containers. */
export type RuntimeEvent =
	/**
	 * What the pod's containers share has died; its containers may run on, and nothing else is said of them. What is to be done is said by the
	 * next `sandbox.ensure`, also to an agent that was not there to hear this.
	 */
	| {readonly type: 'sandboxLost'; readonly uid: string; readonly namespace: string; readonly podName: string}
	/** What the pod's `sandbox.ensure` was refused for want of devices may be had now. */
	| {readonly type: 'devicesFree'; readonly uid: string; readonly namespace: string; readonly podName: string}
	/** At most one a second per container; undefined: it is not known how much that is. */
	| {
			readonly type: 'pulling';
			readonly id: ContainerId;
			readonly namespace: string;
			readonly podName: string;
			readonly percent: number | undefined;
			readonly bytes: number | undefined;
			/** As far as is known yet. */
			readonly totalBytes: number | undefined;
	  }
	/** `info` says something else now. */
	| {readonly type: 'infoChanged'};

/** Hears of ends: the spec's namespace and pod name say which actor is to be told. */
export type ExitListener = (container: {namespace: string; podName: string; id: ContainerId}, exit: ContainerExit) => void;

export type Runtime = {
	readonly info: () => RuntimeInfo;
	/** Calls back once. Callbacks, not promises, so that the simulated runtime runs in virtual time. */
	readonly run: <Type extends RuntimeCommand['type']>(
		command: Extract<RuntimeCommand, {type: Type}>,
		done: (outcome: Outcome<RuntimeResults[Type]>) => void,
	) => void;
	/** One listener, set before the first command. */
	readonly onExit: (listener: ExitListener) => void;
	/** The same for what else it tells. */
	readonly onEvent: (listener: (event: RuntimeEvent) => void) => void;
	/** Leaves containers running; stops watching them. */
	readonly close: () => Promise<void>;
};
