// The schema of a Service.

import {objectWith} from './metadata.js';
import {
	about,
	conditions,
	flag,
	labels,
	list,
	mergedBy,
	oneOf,
	optional,
	port,
	portNumberOrName,
	protocol,
	record,
	text,
	whole,
} from './parts.js';

const servicePort = () =>
	record({
		name: optional(about('Its name; required where there are several ports.', text())),
		protocol: optional(about('TCP (the default), UDP or SCTP.', protocol())),
		port: about('Where the service listens.', port()),
		targetPort: optional(
			about('Where the pods listen: a number, or the name of a port of theirs. Like port when left out.', portNumberOrName()),
		),
		nodePort: optional(about('Where each node listens, in a service of type NodePort or LoadBalancer; chosen when left out.', port())),
		appProtocol: optional(about('What is spoken there, for those who want to know.', text())),
	});

export const spec = () =>
	record(
		{
			type: optional(
				about(
					'ClusterIP (the default), NodePort, LoadBalancer or ExternalName.',
					oneOf(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']),
				),
			),
			selector: optional(about('Labels of the pods that serve it.', labels())),
			ports: optional(about('Where it listens.', list(servicePort(), mergedBy('port')))),
			clusterIP: optional(about('Its address, chosen when left out; None for a service without one.', text())),
			externalName: optional(about('The host name that it stands for, in a service of type ExternalName.', text())),
			externalIPs: optional(about('Further addresses at which nodes take its traffic, where it comes to them.', list(text()))),
			allocateLoadBalancerNodePorts: optional(
				about('Whether a service of type LoadBalancer has node ports, too; true is the default.', flag()),
			),
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
			'x-not-yet': ['healthCheckNodePort', 'loadBalancerClass', 'loadBalancerIP', 'loadBalancerSourceRanges', 'trafficDistribution'],
		},
	);

export const status = () =>
	record({
		loadBalancer: optional(record({ingress: optional(list(record({ip: optional(text()), hostname: optional(text())})))})),
		conditions: optional(conditions()),
	});

export const schema = () => objectWith(about('How it is reached, and which pods serve it.', spec()));
