// The schema of a container. The static shape is `api/shapes/pod.ts`; the last lines hold the two together.

import type {Static} from 'typebox';
import type {Container, LifecycleHandler, Probe} from '../shapes/pod.js';
import {
	flag,
	list,
	mapOf,
	maxInt32,
	oneOf,
	optional,
	port,
	portNumberOrName,
	quantity,
	record,
	seconds,
	shared,
	text,
	whole,
	type Same,
} from './parts.js';

const containerPort = () =>
	record({
		containerPort: port(),
		name: optional(text()),
		hostPort: optional(port()),
		hostIP: optional(text()),
		protocol: optional(oneOf(['TCP', 'UDP', 'SCTP'])),
	});

const keyRef = () => record({name: text(), key: text(), optional: optional(flag())});
const nameRef = () => record({name: text(), optional: optional(flag())});

const envVar = () =>
	record({
		name: text(),
		value: optional(text({'x-private': true})),
		valueFrom: optional(
			record({
				fieldRef: optional(record({fieldPath: text(), apiVersion: optional(text())})),
				resourceFieldRef: optional(record({resource: text(), containerName: optional(text()), divisor: optional(quantity())})),
				configMapKeyRef: optional(keyRef()),
				secretKeyRef: optional(keyRef()),
			}),
		),
	});

const envFrom = () => record({prefix: optional(text()), configMapRef: optional(nameRef()), secretRef: optional(nameRef())});

const resources = () => record({requests: optional(mapOf(quantity())), limits: optional(mapOf(quantity()))}, {'x-not-yet': ['claims']});

const exec = () => record({command: optional(list(text()))});
const httpGet = () =>
	record({
		port: portNumberOrName(),
		path: optional(text()),
		host: optional(text()),
		scheme: optional(oneOf(['HTTP', 'HTTPS'])),
		httpHeaders: optional(list(record({name: text(), value: text({'x-private': true})}))),
	});
const tcpSocket = () => record({port: portNumberOrName(), host: optional(text())});

export const probe = () =>
	record(
		{
			exec: optional(exec()),
			httpGet: optional(httpGet()),
			tcpSocket: optional(tcpSocket()),
			initialDelaySeconds: optional(seconds()),
			timeoutSeconds: optional(seconds(1)),
			periodSeconds: optional(seconds(1)),
			successThreshold: optional(seconds(1)),
			failureThreshold: optional(seconds(1)),
			terminationGracePeriodSeconds: optional(seconds(1)),
		},
		{'x-not-yet': ['grpc']},
	);

export const handler = () =>
	record({
		exec: optional(exec()),
		httpGet: optional(httpGet()),
		tcpSocket: optional(tcpSocket()),
		sleep: optional(record({seconds: seconds()})),
	});

const volumeMount = () =>
	record(
		{name: text(), mountPath: text(), readOnly: optional(flag()), subPath: optional(text())},
		{'x-not-yet': ['mountPropagation', 'recursiveReadOnly', 'subPathExpr']},
	);

const securityContext = () =>
	record(
		{
			runAsUser: optional(whole(0, maxInt32)),
			runAsGroup: optional(whole(0, maxInt32)),
			runAsNonRoot: optional(flag()),
			privileged: optional(flag()),
			readOnlyRootFilesystem: optional(flag()),
			allowPrivilegeEscalation: optional(flag()),
			capabilities: optional(record({add: optional(list(text())), drop: optional(list(text()))})),
		},
		{'x-not-yet': ['appArmorProfile', 'procMount', 'seLinuxOptions', 'seccompProfile', 'windowsOptions']},
	);

export const container = () =>
	record(
		{
			name: text(),
			image: text(),
			command: optional(list(text())),
			args: optional(list(text())),
			workingDir: optional(text()),
			env: optional(list(envVar())),
			envFrom: optional(list(envFrom())),
			ports: optional(list(containerPort())),
			resources: optional(resources()),
			imagePullPolicy: optional(oneOf(['Always', 'IfNotPresent', 'Never'])),
			securityContext: optional(securityContext()),
			volumeMounts: optional(list(volumeMount())),
			livenessProbe: optional(shared<Probe>('Probe')),
			readinessProbe: optional(shared<Probe>('Probe')),
			startupProbe: optional(shared<Probe>('Probe')),
			lifecycle: optional(
				record(
					{
						postStart: optional(shared<LifecycleHandler>('LifecycleHandler')),
						preStop: optional(shared<LifecycleHandler>('LifecycleHandler')),
					},
					{'x-not-yet': ['stopSignal']},
				),
			),
			stdin: optional(flag()),
			stdinOnce: optional(flag()),
			tty: optional(flag()),
			terminationMessagePath: optional(text()),
			terminationMessagePolicy: optional(oneOf(['File', 'FallbackToLogsOnError'])),
		},
		{'x-not-yet': ['resizePolicy', 'restartPolicy', 'volumeDevices']},
	);

export const probeSaysTheSame: Same<Static<ReturnType<typeof probe>>, Probe> = true;
export const handlerSaysTheSame: Same<Static<ReturnType<typeof handler>>, LifecycleHandler> = true;
export const containerSaysTheSame: Same<Static<ReturnType<typeof container>>, Container> = true;
