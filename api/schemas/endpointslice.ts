// The schema of an EndpointSlice.

import {objectOf} from './metadata.js';
import {about, flag, list, oneOf, optional, port, protocol, record, someOf, text} from './parts.js';

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

export const content = () =>
	record({
		addressType: about('What the addresses are.', oneOf(['IPv4', 'IPv6', 'FQDN'])),
		endpoints: about('Who serves.', list(endpoint())),
		ports: optional(about('Where all of them listen.', list(endpointPort()))),
	});

export const schema = () => objectOf(content());
