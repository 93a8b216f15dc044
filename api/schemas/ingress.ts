// The schema of an Ingress.

import {objectWith} from './metadata.js';
import {about, conditions, list, oneOf, optional, port, record, someOf, text} from './parts.js';

const backend = () =>
	record(
		{
			service: optional(
				about(
					'The service, in the same namespace.',
					record({
						name: about('Its name.', text()),
						port: optional(
							about(
								'The port of the service: its number or its name.',
								record({number: optional(about('Its number.', port())), name: optional(about('Its name.', text()))}),
							),
						),
					}),
				),
			),
		},
		{'x-not-yet': ['resource']},
	);

const path = () =>
	record({
		path: optional(about('Where it begins, such as /api; / when left out.', text())),
		pathType: about(
			'Exact, Prefix of whole segments, or ImplementationSpecific, which is a prefix here.',
			oneOf(['Exact', 'Prefix', 'ImplementationSpecific']),
		),
		backend: about('What answers there.', backend()),
	});

export const spec = () =>
	record({
		ingressClassName: optional(about('Its class: the router serves every class.', text())),
		defaultBackend: optional(about('What answers where no rule of any Ingress does.', backend())),
		rules: optional(
			about(
				'Hosts and their paths.',
				list(
					record({
						host: optional(about('The host name, or *.example.com; every host when left out.', text())),
						http: optional(about('Its paths.', record({paths: about('What answers below which path.', someOf(path()))}))),
					}),
				),
			),
		),
		tls: optional(
			about(
				'Certificates of hosts.',
				list(
					record({
						hosts: optional(about('The host names that it is for; those in the certificate when left out.', list(text()))),
						secretName: optional(about('The Secret of type kubernetes.io/tls, in the same namespace.', text())),
					}),
				),
			),
		),
	});

export const status = () =>
	record({
		loadBalancer: optional(
			record({
				ingress: optional(
					list(
						record({
							ip: optional(text()),
							hostname: optional(text()),
							ports: optional(list(record({port: port(), protocol: text(), error: optional(text())}))),
						}),
					),
				),
			}),
		),
		conditions: optional(about('Accepted: whether it gets all that it asks for. Of Troupe.', conditions())),
	});

export const schema = () => objectWith(about('Hosts and paths, and the services that answer there.', spec()));
