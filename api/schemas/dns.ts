// The schema of a Dns.

import {objectWith} from './metadata.js';
import {limits} from '../limits.js';
import {about, observed, optional, port, record, someOf, text, whole} from './parts.js';

const comparison = () => ({
	exact: optional(about('The whole of it, letter by letter.', text())),
	prefix: optional(about('Its beginning; of a path, whole segments.', text())),
	regex: optional(about('A regular expression of RE2, of which the whole is a match.', text())),
});

const match = () =>
	record({
		header: optional(
			about(
				'A header; one that only has to be there where nothing else is said.',
				record({name: about('Its name.', text()), ...comparison()}),
			),
		),
		cookie: optional(
			about(
				'A cookie; one that only has to be there where nothing else is said.',
				record({name: about('Its name.', text()), ...comparison()}),
			),
		),
		path: optional(about('The path, without the query.', record(comparison()))),
	});

const backend = () =>
	record({
		svcName: optional(about('The service, in the same namespace; or a function.', text())),
		svcPort: optional(about('The port of the service; its first one when left out.', port())),
		funcName: optional(about('The function, in the same namespace, instead of a service.', text())),
		weight: optional(
			about(
				'Its share of the requests that no match takes: weight / sum of all. 1 when left out, 0 for one with a match.',
				whole(0, limits.routeWeight),
			),
		),
		match: optional(about('It takes all requests that fulfil all of this; the first backend in the list wins.', match())),
	});

export const spec = () =>
	record({
		host: about('The host name; *.example.com stands for every name with one label more.', text()),
		paths: about(
			'Which service or function answers below which path.',
			someOf(
				record({
					subPath: about('The beginning of the path, such as /api.', text()),
					svcName: optional(about('The service, in the same namespace; or there is a function, or backends.', text())),
					svcPort: optional(about('The port of that service; required with svcName.', port())),
					funcName: optional(about('The function, in the same namespace, instead of svcName.', text())),
					backends: optional(about('Several services and functions that share the requests, instead of svcName.', someOf(backend()))),
				}),
			),
		),
	});

export const status = observed;

export const schema = () => objectWith(about('A host name, and the services and functions below it.', spec()));
