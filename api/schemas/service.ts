// The schemas of what leads to pods: Service, EndpointSlice, Dns.

import type {Static} from 'typebox';
import type {Condition} from '../object.js';
import type {DnsSpec, DnsStatus} from '../shapes/dns.js';
import type {EndpointSliceContent} from '../shapes/endpointslice.js';
import type {ServiceSpec, ServiceStatus} from '../shapes/service.js';
import {objectOf, objectWith} from './metadata.js';
import {
	about,
	flag,
	labels,
	list,
	observed,
	oneOf,
	optional,
	port,
	portNumberOrName,
	record,
	shared,
	someOf,
	text,
	whole,
	type Same,
} from './parts.js';

const protocol = () => oneOf(['TCP', 'UDP', 'SCTP']);

const servicePort = () =>
	record({
		name: optional(about('Its name; required where there are several ports.', text())),
		protocol: optional(about('TCP (the default), UDP or SCTP.', protocol())),
		port: about('Where the service listens.', port()),
		targetPort: optional(
			about('Where the pods listen: a number, or the name of a port of theirs. Like port when left out.', portNumberOrName()),
		),
		nodePort: optional(about('Where each node listens, in a service of type NodePort.', port())),
		appProtocol: optional(about('What is spoken there, for those who want to know.', text())),
	});

const serviceSpec = () =>
	record(
		{
			type: optional(about('ClusterIP (the default) or NodePort.', oneOf(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']))),
			selector: optional(about('Labels of the pods that serve it.', labels())),
			ports: optional(about('Where it listens.', list(servicePort()))),
			clusterIP: optional(about('Its address, chosen when left out; None for a service without one.', text())),
			clusterIPs: optional(about('Its addresses; the first is clusterIP.', list(text()))),
			ipFamilies: optional(about('The families of its addresses.', list(oneOf(['IPv4', 'IPv6'])))),
			ipFamilyPolicy: optional(
				about('Whether it has addresses of both families.', oneOf(['SingleStack', 'PreferDualStack', 'RequireDualStack'])),
			),
			sessionAffinity: optional(about('ClientIP keeps a client with one pod; None is the default.', oneOf(['None', 'ClientIP']))),
			sessionAffinityConfig: optional(
				about(
					'How long a client is kept with one pod.',
					record({
						clientIP: optional(
							about(
								'Of the affinity ClientIP.',
								record({timeoutSeconds: optional(about('In seconds; 10800 when left out.', whole(1, 86_400)))}),
							),
						),
					}),
				),
			),
			internalTrafficPolicy: optional(about('Whether pods of other nodes serve clients in the cluster.', oneOf(['Cluster', 'Local']))),
			externalTrafficPolicy: optional(about('The same for clients outside.', oneOf(['Cluster', 'Local']))),
			publishNotReadyAddresses: optional(about('Whether pods that are not ready serve, too.', flag())),
		},
		{
			'x-not-yet': [
				'allocateLoadBalancerNodePorts',
				'externalIPs',
				'externalName',
				'healthCheckNodePort',
				'loadBalancerClass',
				'loadBalancerIP',
				'loadBalancerSourceRanges',
				'trafficDistribution',
			],
		},
	);

export const serviceStatus = () =>
	record({
		loadBalancer: optional(record({ingress: optional(list(record({ip: optional(text()), hostname: optional(text())})))})),
		conditions: optional(list(shared<Condition>('Condition'))),
	});

export const service = () => objectWith(about('How it is reached, and which pods serve it.', serviceSpec()));

const objectReference = () =>
	record({
		apiVersion: optional(text()),
		kind: optional(text()),
		name: optional(text()),
		namespace: optional(text()),
		uid: optional(text()),
		resourceVersion: optional(text()),
		fieldPath: optional(text()),
	});

const endpoint = () =>
	record(
		{
			addresses: about('Where it is reached.', someOf(text())),
			conditions: optional(
				about('How it is.', record({ready: optional(flag()), serving: optional(flag()), terminating: optional(flag())})),
			),
			hostname: optional(about('Its host name.', text())),
			nodeName: optional(about('The node it is on.', text())),
			zone: optional(about('The zone it is in.', text())),
			targetRef: optional(about('The object behind it, mostly a pod.', objectReference())),
		},
		{'x-not-yet': ['deprecatedTopology', 'hints']},
	);

const endpointPort = () =>
	record({
		name: optional(about('The name of the port of the service.', text())),
		port: optional(about('Its number.', port())),
		protocol: optional(about('TCP, UDP or SCTP.', protocol())),
		appProtocol: optional(about('What is spoken there.', text())),
	});

const sliceFields = () => ({
	addressType: about('What the addresses are.', oneOf(['IPv4', 'IPv6', 'FQDN'])),
	endpoints: about('Who serves.', list(endpoint())),
	ports: optional(about('Where all of them listen.', list(endpointPort()))),
});

export const endpointSliceContent = () => record(sliceFields());

export const endpointSliceStatus = () => record({});

export const endpointSlice = () => objectOf(sliceFields());

const dnsSpec = () =>
	record({
		host: about('The host name.', text()),
		paths: about(
			'Which service answers below which path.',
			someOf(
				record({
					subPath: about('The beginning of the path, such as /api.', text()),
					svcName: about('The service, in the same namespace.', text()),
					svcPort: about('The port of the service.', port()),
				}),
			),
		),
	});

export const dnsStatus = () => record(observed());

export const dns = () => objectWith(about('A host name, and the services below it.', dnsSpec()));

export const serviceSaysTheSame: Same<Static<ReturnType<typeof serviceSpec>>, ServiceSpec> = true;
export const serviceStatusSaysTheSame: Same<Static<ReturnType<typeof serviceStatus>>, ServiceStatus> = true;
export const sliceSaysTheSame: Same<Static<ReturnType<typeof endpointSliceContent>>, EndpointSliceContent> = true;
export const dnsSaysTheSame: Same<Static<ReturnType<typeof dnsSpec>>, DnsSpec> = true;
export const dnsStatusSaysTheSame: Same<Static<ReturnType<typeof dnsStatus>>, DnsStatus> = true;
