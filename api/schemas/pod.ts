// The schema of a pod. The static shape is `api/shapes/pod.ts`; the last lines hold the two together.

import type {Static} from 'typebox';
import type {Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {Container, ContainerStatus, PodSpec, PodStatus} from '../shapes/pod.js';
import {objectWith} from './metadata.js';
import {
	anyObject,
	flag,
	labels,
	list,
	maxInt32,
	oneOf,
	optional,
	quantity,
	record,
	seconds,
	shared,
	someOf,
	text,
	whole,
	type Same,
} from './parts.js';

const mode = () => optional(whole(0, 0o777));
const items = () => optional(list(record({key: text(), path: text(), mode: mode()})));

const volume = () =>
	record(
		{
			name: text(),
			hostPath: optional(record({path: text(), type: optional(text())})),
			emptyDir: optional(record({medium: optional(text()), sizeLimit: optional(quantity())})),
			configMap: optional(record({name: text(), items: items(), defaultMode: mode(), optional: optional(flag())})),
			secret: optional(record({secretName: text(), items: items(), defaultMode: mode(), optional: optional(flag())})),
		},
		{'x-not-yet': ['csi', 'downwardAPI', 'ephemeral', 'image', 'iscsi', 'nfs', 'persistentVolumeClaim', 'projected']},
	);

const toleration = () =>
	record({
		key: optional(text()),
		operator: optional(oneOf(['Exists', 'Equal'])),
		value: optional(text()),
		effect: optional(oneOf(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
		tolerationSeconds: optional(whole(-maxInt32, maxInt32)),
	});

const topologySpread = () =>
	record(
		{
			maxSkew: whole(1, maxInt32),
			topologyKey: text(),
			whenUnsatisfiable: oneOf(['DoNotSchedule', 'ScheduleAnyway']),
			labelSelector: optional(shared<LabelSelector>('LabelSelector')),
		},
		{'x-not-yet': ['matchLabelKeys', 'minDomains', 'nodeAffinityPolicy', 'nodeTaintsPolicy']},
	);

const podSecurityContext = () =>
	record(
		{
			runAsUser: optional(whole(0, maxInt32)),
			runAsGroup: optional(whole(0, maxInt32)),
			runAsNonRoot: optional(flag()),
			fsGroup: optional(whole(0, maxInt32)),
			supplementalGroups: optional(list(whole(0, maxInt32))),
		},
		{
			'x-not-yet': [
				'appArmorProfile',
				'fsGroupChangePolicy',
				'seLinuxOptions',
				'seccompProfile',
				'supplementalGroupsPolicy',
				'sysctls',
				'windowsOptions',
			],
		},
	);

export const podSpec = () =>
	record(
		{
			containers: someOf(shared<Container>('Container')),
			nodeName: optional(text()),
			nodeSelector: optional(labels()),
			restartPolicy: optional(oneOf(['Always', 'OnFailure', 'Never'])),
			terminationGracePeriodSeconds: optional(seconds()),
			hostname: optional(text()),
			securityContext: optional(podSecurityContext()),
			tolerations: optional(list(toleration())),
			imagePullSecrets: optional(list(record({name: text()}))),
			initContainers: optional(list(shared<Container>('Container'))),
			volumes: optional(list(volume())),
			affinity: optional(anyObject()),
			topologySpreadConstraints: optional(list(topologySpread())),
			activeDeadlineSeconds: optional(seconds(1)),
			hostNetwork: optional(flag()),
			hostPID: optional(flag()),
			hostIPC: optional(flag()),
			shareProcessNamespace: optional(flag()),
			subdomain: optional(text()),
			priorityClassName: optional(text()),
			runtimeClassName: optional(text()),
			hostAliases: optional(list(record({ip: text(), hostnames: optional(list(text()))}))),
			dnsPolicy: optional(oneOf(['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'])),
			schedulerName: optional(text()),
			serviceAccountName: optional(text()),
			serviceAccount: optional(text()),
			automountServiceAccountToken: optional(flag()),
			enableServiceLinks: optional(flag()),
		},
		{
			'x-not-yet': [
				'dnsConfig',
				'ephemeralContainers',
				'hostUsers',
				'os',
				'overhead',
				'preemptionPolicy',
				'priority',
				'readinessGates',
				'resourceClaims',
				'resources',
				'schedulingGates',
				'setHostnameAsFQDN',
			],
		},
	);

const containerState = () =>
	record({
		waiting: optional(record({reason: optional(text()), message: optional(text()), retryAt: optional(text())})),
		running: optional(record({startedAt: optional(text())})),
		terminated: optional(
			record({
				exitCode: whole(-maxInt32, maxInt32),
				signal: optional(whole(0, maxInt32)),
				reason: optional(text()),
				message: optional(text()),
				startedAt: optional(text()),
				finishedAt: optional(text()),
				containerID: optional(text()),
			}),
		),
	});

export const containerStatus = () =>
	record({
		name: text(),
		state: optional(containerState()),
		lastState: optional(containerState()),
		ready: flag(),
		started: optional(flag()),
		restartCount: whole(0, maxInt32),
		image: text(),
		imageID: text(),
		containerID: optional(text()),
	});

const ips = () => optional(list(record({ip: text()})));

export const podStatus = () =>
	record({
		phase: oneOf(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']),
		conditions: optional(list(shared<Condition>('Condition'))),
		reason: optional(text()),
		message: optional(text()),
		hostIP: optional(text()),
		hostIPs: ips(),
		podIP: optional(text()),
		podIPs: ips(),
		startTime: optional(text()),
		nominatedNodeName: optional(text()),
		qosClass: optional(oneOf(['Guaranteed', 'Burstable', 'BestEffort'])),
		containerStatuses: optional(list(shared<ContainerStatus>('ContainerStatus'))),
		initContainerStatuses: optional(list(shared<ContainerStatus>('ContainerStatus'))),
	});

export const pod = () => objectWith(shared<PodSpec>('PodSpec'));

export const containerStatusSaysTheSame: Same<Static<ReturnType<typeof containerStatus>>, ContainerStatus> = true;
export const podSpecSaysTheSame: Same<Static<ReturnType<typeof podSpec>>, PodSpec> = true;
export const podStatusSaysTheSame: Same<Static<ReturnType<typeof podStatus>>, PodStatus> = true;
