// The words of `port-forward`: which ports, and which of a pod they mean.

import test from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import {mappingOf, portOfPod} from '../../cli/port-forward/mapping.js';

test('a port here, and one there by number or name', t => {
	t.deepEqual(['8080:80', '80', ':80', '8080:http', 'http'].map(mappingOf), [
		{local: 8080, remote: 80},
		{local: 80, remote: 80},
		{local: 0, remote: 80},
		{local: 8080, remote: 'http'},
		{local: 0, remote: 'http'},
	]);
	for (const word of ['', ':', '1:2:3', '0', '65536', '70000:80', 'x:80', '80:', '-1', '80:ht/tp', '8080:0'])
		t.throws(() => mappingOf(word), {message: /a port is \[LOCAL:\]REMOTE/}, word);
});

const pod = {metadata: {name: 'p'}, spec: {containers: [{ports: [{name: 'http', containerPort: 8000}]}]}} as unknown as Pod;
const service = {
	metadata: {name: 's'},
	spec: {
		ports: [
			{name: 'web', port: 80, targetPort: 'http'},
			{name: 'x', port: 81},
		],
	},
} as unknown as Service;

test("a Service's ports lead to what they mean in the pod", t => {
	t.is(portOfPod(9, pod, undefined), 9);
	t.is(portOfPod('http', pod, undefined), 8000);
	t.is(portOfPod(80, pod, service), 8000);
	t.is(portOfPod('web', pod, service), 8000);
	t.is(portOfPod(81, pod, service), 81);
	t.throws(() => portOfPod('nosuch', pod, undefined), {message: 'pod "p" has no port named "nosuch"; there are http'});
	t.throws(() => portOfPod(82, pod, service), {message: 'service "s" has no port 82; it has 80, 81'});
});
