// The schema of a pod: field names are those of Kubernetes' v1 Pod.
//
// Fields that no part of this version acts on yet are here too, so that a manifest which uses one is refused by name.

import {affinity} from './affinity.js';
import {seccompProfile, type container} from './container.js';
import {objectWith} from './metadata.js';
import {nfs} from './nfs.js';
import {runtimeClasses} from '../runtime-class.js';
import {
	about,
	conditions,
	fileMode,
	flag,
	labels,
	list,
	maxInt32,
	mergedBy,
	oneOf,
	optional,
	quantity,
	record,
	seconds,
	selector,
	shared,
	someOf,
	text,
	whole,
} from './parts.js';

const mode = () => optional(about('Permissions of the files, such as 0644 (the default).', fileMode()));
export const keyToPath = () =>
	record({
		key: about('The entry.', text()),
		path: about('The file; relative.', text()),
		mode: about('Its permissions, such as 0644.', mode()),
	});
const items = () => optional(about('Which entries, and under which name; all when left out.', list(keyToPath())));

export const hostPath = () =>
	about(
		'A folder or file of the node, where its operator allows it.',
		record({
			path: about('Where it is; absolute.', text()),
			type: optional(about('What must be there, such as Directory or FileOrCreate.', text())),
		}),
	);

export const volume = () =>
	record(
		{
			name: about('Its name, unique in the pod.', text()),
			hostPath: optional(hostPath()),
			emptyDir: optional(
				about(
					'An empty folder that lives as long as the pod.',
					record({
						medium: optional(about('Memory, or the disk when left out.', text())),
						sizeLimit: optional(about('How large it may get.', quantity())),
					}),
				),
			),
			configMap: optional(
				about(
					'Entries of a ConfigMap as files.',
					record({
						name: about('The name of the ConfigMap.', text()),
						items: items(),
						defaultMode: mode(),
						optional: optional(about('Whether the pod starts without it.', flag())),
					}),
				),
			),
			secret: optional(
				about(
					'Entries of a Secret as files.',
					record({
						secretName: about('The name of the Secret.', text()),
						items: items(),
						defaultMode: mode(),
						optional: optional(about('Whether the pod starts without it.', flag())),
					}),
				),
			),
			nfs: optional(nfs()),
			persistentVolumeClaim: optional(
				about(
					'The volume of a claim of its namespace: it outlives the pod.',
					record({
						claimName: about('The name of the claim.', text()),
						readOnly: optional(about('Whether its containers can only read it.', flag())),
					}),
				),
			),
		},
		{'x-not-yet': ['csi', 'downwardAPI', 'ephemeral', 'image', 'iscsi', 'projected']},
	);

export const toleration = () =>
	record({
		key: optional(about('Of the taint; every one when empty.', text())),
		operator: optional(about('Exists, or Equal (the default).', oneOf(['Exists', 'Equal']))),
		value: optional(about('Of the taint.', text())),
		effect: optional(about('Of the taint; every one when empty.', oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute']))),
		tolerationSeconds: optional(about('How long a NoExecute taint is borne; forever when left out.', whole(-maxInt32, maxInt32))),
	});

export const topologySpread = () =>
	record(
		{
			maxSkew: about('By how many pods domains may differ.', whole(1, maxInt32)),
			topologyKey: about('The label of nodes that says which domain they are in.', text()),
			whenUnsatisfiable: about('Whether the pod waits then.', oneOf(['DoNotSchedule', 'ScheduleAnyway'])),
			labelSelector: optional(about('Which pods are counted.', selector())),
		},
		{'x-not-yet': ['matchLabelKeys', 'minDomains', 'nodeAffinityPolicy', 'nodeTaintsPolicy']},
	);

const podSecurityContext = () =>
	record(
		{
			runAsUser: optional(about('The number of the user containers run as.', whole(0, maxInt32))),
			runAsGroup: optional(about('The number of the group they run as.', whole(0, maxInt32))),
			runAsNonRoot: optional(about('Whether they are refused when that user is root.', flag())),
			fsGroup: optional(about('The group that owns what is in the volumes.', whole(0, maxInt32))),
			supplementalGroups: optional(about('Further groups of the processes.', list(whole(0, maxInt32)))),
			supplementalGroupsPolicy: optional(
				about(
					"Whether groups of the image's user are added: Merge (the default of class docker) or Strict (always of process).",
					oneOf(['Merge', 'Strict']),
				),
			),
			seccompProfile: optional(seccompProfile()),
		},
		{'x-not-yet': ['appArmorProfile', 'fsGroupChangePolicy', 'seLinuxOptions', 'sysctls', 'windowsOptions']},
	);

export const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] as const;

const dnsConfig = () =>
	record({
		nameservers: optional(about('Further servers, as addresses; at most 3.', list(text()))),
		searches: optional(about('Further domains in which names are looked up.', list(text()))),
		options: optional(
			about(
				'Further options of resolv.conf; in place of others of the same name.',
				list(
					record({
						name: optional(about('As resolv.conf has it: ndots, timeout.', text())),
						value: optional(about('Where it has one.', text())),
					}),
				),
			),
		),
	});

export const spec = () =>
	record(
		{
			containers: about('What runs, together.', someOf(shared<typeof container>('Container'), mergedBy('name'))),
			nodeName: optional(about('The node, without asking the scheduler.', text())),
			nodeSelector: optional(about('Labels that the node must have.', labels())),
			restartPolicy: optional(
				about(
					'When a container that ended is started again: Always (the default), OnFailure or Never.',
					oneOf(['Always', 'OnFailure', 'Never']),
				),
			),
			terminationGracePeriodSeconds: optional(about('How long containers have to stop; 30 when left out.', seconds())),
			hostname: optional(about("Its host name; the pod's name when left out.", text())),
			securityContext: optional(about('As whom its containers run.', podSecurityContext())),
			tolerations: optional(about('Taints of nodes that it bears.', list(toleration()))),
			imagePullSecrets: optional(
				about(
					'Secrets with logins of registries, for its images; class process pulls none.',
					list(record({name: about('The name of the Secret.', text())}), mergedBy('name')),
				),
			),
			initContainers: optional(
				about('What runs before, one after the other.', list(shared<typeof container>('Container'), mergedBy('name'))),
			),
			volumes: optional(
				about(
					'Folders and files for its containers.',
					list(volume(), {...mergedBy('name'), 'x-kubernetes-patch-strategy': 'merge,retainKeys'}),
				),
			),
			affinity: optional(about('Which nodes and neighbours it wants, and which not.', affinity())),
			topologySpreadConstraints: optional(about('How such pods are spread over nodes.', list(topologySpread(), mergedBy('topologyKey')))),
			activeDeadlineSeconds: optional(about('It is ended so long after its start.', seconds(1))),
			hostNetwork: optional(about("Whether it has the network of its node, where the node's operator allows it.", flag())),
			hostPID: optional(about("Whether it sees the processes of its node; of class docker, where the node's operator allows it.", flag())),
			hostIPC: optional(about('Whether it shares IPC with its node; of class docker, alike.', flag())),
			shareProcessNamespace: optional(about("Whether its containers see each other's processes; of class docker.", flag())),
			subdomain: optional(about('A headless Service of that name gives it a name by its hostname.', text())),
			priorityClassName: optional(about('The PriorityClass it belongs to.', text())),
			priority: optional(about('Set from its class; higher ones go first.', whole(-maxInt32, maxInt32))),
			preemptionPolicy: optional(about('Whether it may take the place of lower ones.', oneOf(['PreemptLowerPriority', 'Never']))),
			runtimeClassName: optional(
				about(
					"What runs it: process or docker. The cluster's default (ClusterConfig) when left out, fixed when it is made.",
					oneOf(runtimeClasses),
				),
			),
			hostAliases: optional(
				about(
					'Further names in its /etc/hosts.',
					list(record({ip: about('The address.', text()), hostnames: optional(about('Its names.', list(text())))}), mergedBy('ip')),
				),
			),
			dnsPolicy: optional(
				about(
					'Whom programs ask for names: ClusterFirst, ClusterFirstWithHostNet, whom the node asks (Default), or dnsConfig (None).',
					oneOf(dnsPolicies),
				),
			),
			dnsConfig: optional(about('What its programs are told of names beside that.', dnsConfig())),
			schedulerName: optional(about('Accepted: default-scheduler.', text())),
			serviceAccountName: optional(about('Accepted: default.', text())),
			serviceAccount: optional(about('Accepted: default.', text())),
			automountServiceAccountToken: optional(about('Accepted; there are no such tokens.', flag())),
			enableServiceLinks: optional(about('Whether containers get variables with the addresses of Services; true if left out.', flag())),
		},
		{
			'x-not-yet': [
				'ephemeralContainers',
				'hostUsers',
				'os',
				'overhead',
				'readinessGates',
				'resourceClaims',
				'resources',
				'schedulingGates',
				'setHostnameAsFQDN',
			],
		},
	);

export const containerState = () =>
	record({
		waiting: optional(
			about(
				'What it waits for.',
				record({
					// `ContainerCreating`, `CrashLoopBackOff`, `NoCommand`, ...
					reason: optional(about('In one word.', text())),
					message: optional(about('In a sentence.', text())),
					// Beyond Kubernetes: when the next start is due, RFC 3339 with milliseconds.
					retryAt: optional(about('When it is tried again.', text())),
					// Beyond Kubernetes: the number of that start among those that followed a first one.
					retry: optional(about('The number of that try, failed ones included.', whole(0, maxInt32))),
				}),
			),
		),
		running: optional(about('Since when it runs.', record({startedAt: optional(text())}))),
		terminated: optional(
			about(
				'How it ended.',
				record({
					// 128 + signal for a signal; -1 when the code could not be known.
					exitCode: whole(-maxInt32, maxInt32),
					signal: optional(whole(0, maxInt32)),
					// `Completed`, `Error`, `OOMKilled`, ...
					reason: optional(text()),
					message: optional(text()),
					startedAt: optional(text()),
					finishedAt: optional(text()),
					containerID: optional(text()),
				}),
			),
		),
	});

export const containerStatus = () =>
	record({
		name: about('Its name.', text()),
		state: optional(about('What it does.', containerState())),
		lastState: optional(about('How it ended before.', containerState())),
		ready: about('Whether it is ready.', flag()),
		started: optional(about('Whether its start is over.', flag())),
		restartCount: about('How often it was started again.', whole(0, maxInt32)),
		image: about('What it runs.', text()),
		imageID: about('The same, exactly.', text()),
		containerID: optional(about('Its process or container on the node.', text())),
		user: optional(
			about(
				'As whom it was started.',
				record({linux: record({uid: whole(0, maxInt32), gid: whole(0, maxInt32), supplementalGroups: list(whole(0, maxInt32))})}),
			),
		),
		process: optional(about('Where it was started, its HOME and its PATH.', record({workingDir: text(), home: text(), path: text()}))),
	});

const ips = () => optional(list(record({ip: text()}), mergedBy('ip')));

export const status = () =>
	record({
		phase: about('Pending, Running, Succeeded, Failed or Unknown.', oneOf(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])),
		conditions: optional(about('What holds of it: scheduled, initialized, ready.', conditions())),
		reason: optional(about('Why it is so, in one word.', text())),
		message: optional(about('The same in a sentence.', text())),
		hostIP: optional(about('The address of its node.', text())),
		hostIPs: about('The same, as a list.', ips()),
		podIP: optional(about('Its own address.', text())),
		podIPs: about('The same, as a list.', ips()),
		startTime: optional(about('When its node took it.', text())),
		nominatedNodeName: optional(about('Where room is made for it.', text())),
		qosClass: optional(about('How sure its resources are.', oneOf(['Guaranteed', 'Burstable', 'BestEffort']))),
		containerStatuses: optional(about('How each container is.', list(shared<typeof containerStatus>('ContainerStatus')))),
		initContainerStatuses: optional(about('How each init container is.', list(shared<typeof containerStatus>('ContainerStatus')))),
	});

export const schema = () => objectWith(about('What runs, and where.', shared<typeof spec>('PodSpec')));
