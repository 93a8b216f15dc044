// From a pod's assignment to the sandbox that the runtime is asked for.

import test from 'ava';
import {sandboxSpecOf} from '../../actors/node/pods/sandbox-spec.js';
import {functionAnnotation, functionContainer} from '../../api/function-instance.js';
import {anAssignment} from './_agent.js';
import {aContainer} from './_objects.js';

test('a pod that says nothing has a sandbox of its own, of the class of before there were classes', t => {
	t.deepEqual(sandboxSpecOf(anAssignment()), {
		uid: 'uid-of-web',
		namespace: 'default',
		name: 'web',
		hostname: 'web',
		controller: 'default/Pod/web',
		runtimeClass: 'process',
		shareProcessNamespace: false,
		hostNetwork: false,
		hostPID: false,
		hostIPC: false,
		hostAliases: [],
		hostPorts: [],
	});
});

test('what the pod says of it is handed on: class, host name, namespaces, names of hosts, lease', t => {
	const assignment = anAssignment({
		annotations: {'troupe.dev/exclusive': 'true'},
		controller: 'default/ReplicaSet/web',
		spec: {
			hostname: 'front',
			runtimeClassName: 'docker',
			shareProcessNamespace: true,
			hostNetwork: true,
			hostPID: true,
			hostIPC: true,
			hostAliases: [{ip: '10.1.2.3', hostnames: ['db', 'db.example.org']}, {ip: '10.1.2.4'}],
		},
	});
	t.like(sandboxSpecOf(assignment), {
		hostname: 'front',
		controller: 'default/ReplicaSet/web',
		runtimeClass: 'docker',
		shareProcessNamespace: true,
		hostNetwork: true,
		hostPID: true,
		hostIPC: true,
		hostAliases: [
			{ip: '10.1.2.3', hostnames: ['db', 'db.example.org']},
			{ip: '10.1.2.4', hostnames: []},
		],
		exclusive: true,
	});
});

test('whom its programs ask for names is handed on where the pod says something of it', t => {
	const dnsOf = (spec: object) => sandboxSpecOf(anAssignment({spec})).dns;
	t.is(dnsOf({dnsPolicy: 'ClusterFirst', dnsConfig: {nameservers: []}}), undefined);
	t.deepEqual(dnsOf({dnsPolicy: 'Default'}), {policy: 'Default', nameservers: [], searches: [], options: []});
	const options = [{name: 'ndots', value: '2'}, {name: 'rotate'}, {name: 'edns0', value: ''}];
	t.deepEqual(dnsOf({dnsConfig: {searches: ['a.example'], options}}), {
		policy: 'ClusterFirst',
		nameservers: [],
		searches: ['a.example'],
		options: ['ndots:2', 'rotate', 'edns0'],
	});
});

test('ports of the host are those of containers and sidecars, and only those that name one', t => {
	const assignment = anAssignment({
		spec: {
			initContainers: [
				aContainer({name: 'first', ports: [{containerPort: 80, hostPort: 8080}]}),
				aContainer({name: 'beside', restartPolicy: 'Always', ports: [{containerPort: 53, hostPort: 5353, protocol: 'UDP'}]}),
			],
			containers: [aContainer({ports: [{containerPort: 80, hostPort: 8080, hostIP: '10.0.0.1'}, {containerPort: 81}]})],
		},
	});
	t.deepEqual(sandboxSpecOf(assignment).hostPorts, [
		{containerPort: 53, hostPort: 5353, hostIP: undefined, protocol: 'UDP'},
		{containerPort: 80, hostPort: 8080, hostIP: '10.0.0.1', protocol: 'TCP'},
	]);
});

test('of an instance of a function its language, its image and its limit of memory are handed on', t => {
	const said = {artifact: `sha256:${'a'.repeat(64)}`, runtime: 'nodejs', concurrency: 1, timeoutMs: 1_000};
	const runnerOf = (container: object, more: object = {}) => {
		const annotations = {[functionAnnotation]: JSON.stringify({...said, ...more})};
		const its = aContainer({name: functionContainer, image: 'node:22', ...container});
		return sandboxSpecOf(anAssignment({annotations, spec: {containers: [its]}})).runner;
	};
	const handedOn = {language: 'nodejs', image: 'node:22', memoryLimitBytes: undefined};
	t.deepEqual(runnerOf({resources: {limits: {memory: '512Mi'}}}), {...handedOn, memoryLimitBytes: 536_870_912});
	t.deepEqual(runnerOf({}), handedOn);
	t.is(runnerOf({name: 'main'}), undefined);
	t.is(runnerOf({}, {runtime: 'program'}), undefined);
});
