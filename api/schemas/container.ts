// The schema of a container.

import {
	about,
	flag,
	list,
	mapOf,
	maxInt32,
	mergedBy,
	oneOf,
	optional,
	port,
	portNumberOrName,
	protocol,
	quantity,
	record,
	seconds,
	shared,
	text,
	whole,
} from './parts.js';

export const containerPort = () =>
	record({
		containerPort: about('Where the program listens.', port()),
		name: optional(about('Its name, for probes and services.', text())),
		hostPort: optional(about('A port of the node, taken for it.', port())),
		hostIP: optional(about('Of the node; every address when left out; another one of class docker.', text())),
		protocol: optional(about('TCP (the default), UDP or SCTP.', protocol())),
	});

export const keyRef = () =>
	record({
		name: about('The name of the object, in the same namespace.', text()),
		key: about('The entry.', text()),
		optional: optional(about('Whether the container starts without it.', flag())),
	});
const nameRef = () =>
	record({
		name: about('The name of the object, in the same namespace.', text()),
		optional: optional(about('Whether the container starts without it.', flag())),
	});

export const resourceFieldRef = () =>
	record({
		resource: about('Which one: limits.cpu, limits.memory, requests.cpu or requests.memory.', text()),
		containerName: optional(about('Whose; its own when left out.', text())),
		divisor: optional(about('The unit it is counted in, such as 1m or 1Mi.', quantity())),
	});

export const envVar = () =>
	record({
		name: about('The name of the variable.', text()),
		value: optional(about('Its value; $(NAME) stands for a variable before it.', text({'x-private': true}))),
		valueFrom: optional(
			about(
				'Where its value comes from.',
				record({
					fieldRef: optional(
						about(
							'A field of the pod.',
							record({
								fieldPath: about("Which one, such as metadata.name or metadata.labels['app'].", text()),
								apiVersion: optional(about('Of the path: v1.', text())),
							}),
						),
					),
					resourceFieldRef: optional(about('What a container asks for or may use.', resourceFieldRef())),
					configMapKeyRef: optional(about('An entry of a ConfigMap.', keyRef())),
					secretKeyRef: optional(about('An entry of a Secret.', keyRef())),
				}),
			),
		),
	});

export const envFrom = () =>
	record({
		prefix: optional(about('What stands before each name.', text())),
		configMapRef: optional(about('All entries of a ConfigMap.', nameRef())),
		secretRef: optional(about('All entries of a Secret.', nameRef())),
	});

export const resources = () =>
	record(
		{
			requests: optional(about('What it needs: cpu and memory, such as 500m and 128Mi.', mapOf(quantity()))),
			limits: optional(about('What it may use at most; a limit without a request is the request, too.', mapOf(quantity()))),
		},
		{'x-not-yet': ['claims']},
	);

const exec = () => record({command: optional(about('The program and its arguments; no shell is involved.', list(text())))});
export const httpGet = () =>
	record({
		port: about('The port, by number or name.', portNumberOrName()),
		path: optional(about('The path; / when left out.', text())),
		host: optional(about('The host; the pod itself when left out.', text())),
		scheme: optional(about('HTTP (the default) or HTTPS.', oneOf(['HTTP', 'HTTPS']))),
		httpHeaders: optional(
			about(
				'Headers of the request.',
				list(record({name: about('The name of the header.', text()), value: about('Its value.', text({'x-private': true}))})),
			),
		),
	});
const tcpSocket = () =>
	record({
		port: about('The port, by number or name.', portNumberOrName()),
		host: optional(about('The host; the pod itself when left out.', text())),
	});

export const probe = () =>
	record(
		{
			exec: optional(about('A program beside the container; exit code 0 is success.', exec())),
			httpGet: optional(about('A request; 200 to 399 is success.', httpGet())),
			tcpSocket: optional(about('A connection that is taken.', tcpSocket())),
			initialDelaySeconds: optional(about('How long after the start of the container the first try is.', seconds())),
			timeoutSeconds: optional(about('A try that takes longer has failed; 1 when left out.', seconds(1))),
			periodSeconds: optional(about('How often; every 10 seconds when left out.', seconds(1))),
			successThreshold: optional(about('So many successes in a row count; 1 when left out.', seconds(1))),
			failureThreshold: optional(about('So many failures in a row count; 3 when left out.', seconds(1))),
			terminationGracePeriodSeconds: optional(about("How long the container has to stop then; the pod's own when left out.", seconds(1))),
		},
		{'x-not-yet': ['grpc']},
	);

export const handler = () =>
	record({
		exec: optional(about('A program beside the container.', exec())),
		httpGet: optional(about('A request.', httpGet())),
		tcpSocket: optional(about('A connection.', tcpSocket())),
		sleep: optional(about('A wait.', record({seconds: about('How long.', seconds())}))),
	});

export const lifecycle = () =>
	record(
		{
			postStart: optional(
				about('Right after the start; when it fails, the container is started again.', shared<typeof handler>('LifecycleHandler')),
			),
			preStop: optional(about('Before it is told to stop, within the grace period.', shared<typeof handler>('LifecycleHandler'))),
		},
		{'x-not-yet': ['stopSignal']},
	);

const volumeMount = () =>
	record(
		{
			name: about('Which volume of the pod.', text()),
			mountPath: about('Where the program sees it; absolute.', text()),
			readOnly: optional(about('Whether it can only be read.', flag())),
			subPath: optional(about('What of the volume; all of it when left out.', text())),
		},
		{'x-not-yet': ['mountPropagation', 'recursiveReadOnly', 'subPathExpr']},
	);

export const seccompProfile = () =>
	about(
		'Which calls of the kernel its programs may make.',
		record(
			{
				type: about(
					"RuntimeDefault: what Docker allows (the default of class docker); Unconfined: all, where the node's operator allows it.",
					oneOf(['RuntimeDefault', 'Unconfined']),
				),
			},
			{'x-not-yet': ['localhostProfile']},
		),
	);

const securityContext = () =>
	record(
		{
			runAsUser: optional(about('The number of the user it runs as.', whole(0, maxInt32))),
			runAsGroup: optional(about('The number of the group it runs as.', whole(0, maxInt32))),
			runAsNonRoot: optional(about('Whether it is refused when that user is root.', flag())),
			privileged: optional(about("Whether it has all rights on its node; of class docker, where the node's operator allows it.", flag())),
			readOnlyRootFilesystem: optional(about('Whether it can write to its volumes only.', flag())),
			allowPrivilegeEscalation: optional(
				about('Whether it may get more rights than it started with, by set-user-ID programs. False without it.', flag()),
			),
			capabilities: optional(
				about(
					'Rights of root, such as NET_ADMIN, or ALL; of class docker.',
					record({
						add: optional(about("Beside those that Docker gives; where the node's operator allows it.", list(text()))),
						drop: optional(about('Of those that Docker gives.', list(text()))),
					}),
				),
			),
			seccompProfile: optional(seccompProfile()),
		},
		{'x-not-yet': ['appArmorProfile', 'procMount', 'seLinuxOptions', 'windowsOptions']},
	);

export const container = () =>
	record(
		{
			name: about('Its name, unique in the pod.', text()),
			image: about('What it runs; of class process only a name.', text()),
			command: optional(about('The program; $(NAME) stands for a variable.', list(text()))),
			args: optional(about('Its arguments.', list(text()))),
			workingDir: optional(about('Where it starts.', text())),
			env: optional(about('Its variables, in order.', list(envVar(), mergedBy('name')))),
			envFrom: optional(about('Variables for all entries of ConfigMaps and Secrets.', list(envFrom()))),
			ports: optional(about('Where it listens.', list(containerPort(), mergedBy('containerPort')))),
			resources: optional(about('What it needs and may use.', resources())),
			imagePullPolicy: optional(
				about(
					'When the image is pulled: Always (the default of :latest and of no tag), IfNotPresent (of others) or Never.',
					oneOf(['Always', 'IfNotPresent', 'Never']),
				),
			),
			securityContext: optional(about('As whom it runs.', securityContext())),
			volumeMounts: optional(about('Where it sees volumes of the pod.', list(volumeMount(), mergedBy('mountPath')))),
			livenessProbe: optional(about('When it fails, the container is started again.', shared<typeof probe>('Probe'))),
			readinessProbe: optional(about('While it fails, the container is not ready.', shared<typeof probe>('Probe'))),
			startupProbe: optional(
				about('The other probes wait for it; when it fails, the container is started again.', shared<typeof probe>('Probe')),
			),
			lifecycle: optional(about('What is done after its start and before its stop.', lifecycle())),
			restartPolicy: optional(
				about('Of an init container only: Always makes it a sidecar, which runs on beside the others.', oneOf(['Always'])),
			),
			stdin: optional(about('Whether its input is kept open for attach.', flag())),
			stdinOnce: optional(about('Its standard input ends with the first that attaches to it.', flag())),
			tty: optional(about('Whether it has a terminal.', flag())),
			terminationMessagePath: optional(about('Only /dev/termination-log, which is not read.', text())),
			terminationMessagePolicy: optional(about('Accepted; the last lines are kept either way.', oneOf(['File', 'FallbackToLogsOnError']))),
		},
		{'x-not-yet': ['resizePolicy', 'volumeDevices']},
	);
