// The schema of a NetworkPolicy.

import {objectWith} from './metadata.js';
import {about, conditions, list, oneOf, optional, port, portNumberOrName, protocol, record, selector, text} from './parts.js';

const ports = () =>
	optional(
		about(
			'Which ports; all of every protocol when left out.',
			list(
				record({
					protocol: optional(about('TCP (the default), UDP or SCTP.', protocol())),
					port: optional(
						about('Its number, or the name that a container of the pod gives it; every port when left out.', portNumberOrName()),
					),
					endPort: optional(about('The last of a range that begins at port, which is a number then.', port())),
				}),
			),
		),
	);

const peers = (words: string) =>
	optional(
		about(
			words,
			list(
				record({
					podSelector: optional(about('Pods by their labels; an empty one selects all.', selector())),
					namespaceSelector: optional(
						about('Namespaces by their labels, an empty one selects all; pods of the namespace of the policy when left out.', selector()),
					),
					ipBlock: optional(
						about(
							'Addresses.',
							record({
								cidr: about('Such as 192.0.2.0/24.', text()),
								except: optional(about('Parts of it that are left out.', list(text()))),
							}),
						),
					),
				}),
			),
		),
	);

export const spec = () =>
	record({
		podSelector: optional(about('The pods of its namespace that it is for; an empty one selects all.', selector())),
		policyTypes: optional(
			about(
				'The directions in which its pods are isolated. When left out: Ingress, and Egress where there are rules for it.',
				list(oneOf(['Ingress', 'Egress'])),
			),
		),
		ingress: optional(
			about(
				'What may reach its pods; nothing when there is none.',
				list(record({from: peers('Who may; anyone when left out.'), ports: ports()})),
			),
		),
		egress: optional(
			about(
				'What its pods may reach; nothing when there is none.',
				list(record({to: peers('Whom they may reach; anyone when left out.'), ports: ports()})),
			),
		),
	});

export const status = () =>
	record({conditions: optional(about('Enforced: whether the nodes of its pods hold to it. Of Troupe.', conditions()))});

export const schema = () => objectWith(about('Which pods it is for, and what may reach them and be reached by them.', spec()));
