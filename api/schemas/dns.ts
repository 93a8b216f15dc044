// The schema of a Dns.

import {objectWith} from './metadata.js';
import {about, observed, port, record, someOf, text} from './parts.js';

export const spec = () =>
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

export const status = observed;

export const schema = () => objectWith(about('A host name, and the services below it.', spec()));
