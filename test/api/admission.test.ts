import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {limits} from '../../api/limits.js';
import type {PodSpec} from '../../api/kinds/pod.js';
import {aContainer, aPod, aPodWith, aReplicaSet, committed, problemsOf} from './_objects.js';

test('a small pod gets what Kubernetes would fill in', t => {
	const admitted = admitCreate(aPodWith({ports: [{containerPort: 80}], resources: {limits: {cpu: 1}}}));
	t.like(admitted, {
		ok: true,
		value: {
			metadata: {name: 'web', namespace: 'default'},
			spec: {
				restartPolicy: 'Always',
				terminationGracePeriodSeconds: 30,
				containers: [
					{
						imagePullPolicy: 'IfNotPresent',
						ports: [{containerPort: 80, protocol: 'TCP'}],
						resources: {requests: {cpu: '1'}, limits: {cpu: '1'}},
					},
				],
			},
		},
	});
});

test('a template has no requests but what it says: a limit in it can be lowered alone', t => {
	const withLimit = (cpu: string | number): object =>
		aReplicaSet({template: {metadata: {labels: {app: 'web'}}, spec: {containers: [aContainer({resources: {limits: {cpu}}})]}}});
	const admitted = admitCreate(withLimit(1));
	t.like(admitted, {ok: true});
	if (!admitted.ok) return;
	const {template} = admitted.value.spec as {template: {spec: PodSpec}};
	t.deepEqual(template.spec.containers[0]?.resources, {limits: {cpu: '1'}});
	const pod = admitCreate(aPod(template.spec));
	t.deepEqual(pod.ok && (pod.value.spec as PodSpec).containers[0]?.resources, {requests: {cpu: '1'}, limits: {cpu: '1'}});
	t.true(admitUpdate(committed(withLimit('500m')), committed(withLimit(1))).ok);
});

const images: readonly [image: string, policy: string][] = [
	['node', 'Always'],
	['node:latest', 'Always'],
	['node:20', 'IfNotPresent'],
	['host:5000/node', 'Always'],
	['host:5000/node:20', 'IfNotPresent'],
	['node@sha256:abc', 'IfNotPresent'],
];

for (const [image, policy] of images) {
	test(`the image ${image} is pulled ${policy}`, t => {
		const admitted = admitCreate(aPodWith({image}));
		t.is(admitted.ok ? (admitted.value.spec as PodSpec).containers[0]?.imagePullPolicy : '', policy);
	});
}

test('a container without a command is admitted: it says NoCommand later', t => {
	t.true(admitCreate(aPod({containers: [{name: 'a', image: 'b'}]})).ok);
});

test('every problem of an object is told at once, with its path', t => {
	const broken = {
		apiVersion: 'v1',
		kind: 'Pod',
		metadata: {name: 'Web_1', labels: {'a b': 'c', v: 1}},
		spec: {
			restartPolcy: 'Always',
			terminationGracePeriodSeconds: '30',
			subdomain: 'a.b',
			containers: [
				{name: 'a', image: 'x', ports: [{containerPort: 80}, {containerPort: 70_000}]},
				{name: 'a', livenessProbe: {httpGet: {port: 'web'}}},
			],
		},
	};
	t.deepEqual(problemsOf(broken).sort(), [
		'metadata.labels.v: must be a string, got 1; put it in quotes: "1"',
		'metadata.labels["a b"]: the key must be letters, digits, "-", "_" and ".", with a letter or digit at both ends, at most 63 characters, behind a DNS prefix and "/" if wanted, got "a b"',
		'metadata.name: must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends, at most 253 characters, got "Web_1"',
		'spec.containers[0].ports[1].containerPort: must be a whole number from 1 to 65535, got 70000',
		'spec.containers[1].image: is required',
		'spec.containers[1].livenessProbe.httpGet.port: there is no port named "web" in the container',
		'spec.containers[1].name: there is a container "a" already',
		'spec.restartPolcy: unknown field "restartPolcy"; did you mean "restartPolicy"?',
		'spec.subdomain: must be lower-case letters, digits and "-", with a letter or digit at both ends, at most 63 characters, got "a.b"',
		'spec.terminationGracePeriodSeconds: must be a whole number from 0 to 2147483647, got "30"; leave out the quotes',
	]);
});

test('a refusal names the object for the Status that kubectl prints', t => {
	const admitted = admitCreate(aReplicaSet({replicas: 'many'}));
	t.like(admitted, {
		ok: false,
		error: {code: 'ERR_INVALID', details: {name: 'web', resource: 'replicasets.apps', kind: 'ReplicaSet', group: 'apps'}},
	});
	t.deepEqual(problemsOf(aReplicaSet({replicas: 'many'})), ['spec.replicas: must be a whole number from 0 to 100000, got "many"']);
});

const refusals: readonly [title: string, manifest: unknown, problem: string][] = [
	[
		'a port name without a letter',
		aPodWith({ports: [{containerPort: 1, name: '80'}]}),
		'spec.containers[0].ports[0].name: must be at most 15 lower-case letters, digits and single "-", with at least one letter, got "80"',
	],
	[
		'two ports of one name',
		aPodWith({
			ports: [
				{containerPort: 1, name: 'http'},
				{containerPort: 2, name: 'http'},
			],
		}),
		'spec.containers[0].ports[1].name: "http" is the name of spec.containers[0].ports[0] already',
	],
	[
		'two containers on one host port',
		aPod({
			containers: [
				aContainer({ports: [{containerPort: 1, hostPort: 80}]}),
				aContainer({name: 'b', ports: [{containerPort: 2, hostPort: 80}]}),
			],
		}),
		'spec.containers[1].ports[0].hostPort: host port 80/TCP is taken by spec.containers[0].ports[0].hostPort already',
	],
	[
		'a word that is nearly right',
		aPod({restartPolicy: 'always' as 'Always'}),
		'spec.restartPolicy: must be one of Always, OnFailure, Never, got "always"; did you mean "Always"?',
	],
	[
		'a variable with a value and a source',
		aPodWith({env: [{name: 'A', value: 'x', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}}]}),
		'spec.containers[0].env[0].valueFrom: cannot stand beside a value',
	],
	[
		'a NUL in a variable',
		aPodWith({env: [{name: 'A', value: 'a\0b'}]}),
		'spec.containers[0].env[0].value: must not contain a NUL character',
	],
	[
		'half a character in a variable',
		aPodWith({env: [{name: 'A', value: 'a\ud800b'}]}),
		'spec.containers[0].env[0].value: must be Unicode, and has half of a surrogate pair',
	],
	[
		'half a character in an argument',
		aPodWith({args: ['a', '\udc00']}),
		'spec.containers[0].args[1]: must be Unicode, and has half of a surrogate pair',
	],
	['a command without a program', aPodWith({command: ['', 'a']}), 'spec.containers[0].command[0]: must name a program, and is empty'],
	[
		'a folder that is found from nowhere',
		aPodWith({workingDir: 'srv'}),
		'spec.containers[0].workingDir: must be an absolute path, beginning with "/", got "srv"',
	],
	['a NUL in a folder', aPodWith({workingDir: '/a\0b'}), 'spec.containers[0].workingDir: must not contain a NUL character'],
	[
		'half a character in a path of a mount',
		aPod({
			containers: [aContainer({volumeMounts: [{name: 'v', mountPath: '/a\ud800'}]})],
			volumes: [{name: 'v', emptyDir: {}}],
		}),
		'spec.containers[0].volumeMounts[0].mountPath: must be Unicode, and has half of a surrogate pair',
	],
	[
		'a sidecar and a container on one host port',
		aPod({
			initContainers: [aContainer({name: 'a', restartPolicy: 'Always', ports: [{containerPort: 1, hostPort: 80}]})],
			containers: [aContainer({name: 'b', ports: [{containerPort: 2, hostPort: 80}]})],
		}),
		'spec.containers[0].ports[0].hostPort: host port 80/TCP is taken by spec.initContainers[0].ports[0].hostPort already',
	],
	['a NUL in a command', aPodWith({command: ['a\0b']}), 'spec.containers[0].command[0]: must not contain a NUL character'],
	[
		'a secret value of the wrong type is not repeated',
		aPodWith({env: [{name: 'A', value: 4711}]}),
		'spec.containers[0].env[0].value: must be a string, got a number; put it in quotes',
	],
	[
		'an environment from nowhere',
		aPodWith({env: [{name: 'A', valueFrom: {}}]}),
		'spec.containers[0].env[0].valueFrom: must be one of fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, got none',
	],
	[
		'an environment from a Secret whose name can be none',
		aPodWith({env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'S', key: 'k'}}}]}),
		'spec.containers[0].env[0].valueFrom.secretKeyRef.name: must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends, at most 253 characters, got "S"',
	],
	[
		'an environment from an entry that nothing can have',
		aPodWith({env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 's', key: '..k'}}}]}),
		'spec.containers[0].env[0].valueFrom.configMapKeyRef.key: the key must be letters, digits, "-", "_" and ".", at most 253, neither "." nor beginning with "..", got "..k"',
	],
	[
		'all variables of two things at once',
		aPodWith({envFrom: [{configMapRef: {name: 'c'}, secretRef: {name: 's'}}]}),
		'spec.containers[0].envFrom[0]: must be one of configMapRef, secretRef, got configMapRef and secretRef',
	],
	[
		'a prefix that begins no name',
		aPodWith({envFrom: [{configMapRef: {name: 'c'}, prefix: '1='}]}),
		'spec.containers[0].envFrom[0].prefix: must be letters, digits, "-", "_" and ".", not starting with a digit, got "1="',
	],
	[
		'a field that no environment can have',
		aPodWith({env: [{name: 'A', valueFrom: {fieldRef: {fieldPath: 'status.podIp'}}}]}),
		'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: must be one of metadata.name, metadata.namespace, metadata.uid, spec.nodeName, spec.serviceAccountName, status.podIP, status.hostIP, status.podIPs, status.hostIPs, metadata.labels[\'KEY\'], metadata.annotations[\'KEY\'], got "status.podIp"; did you mean "status.podIP"?',
	],
	[
		'a quantity that is none',
		aPodWith({resources: {limits: {cpu: '1x'}}}),
		'spec.containers[0].resources.limits.cpu: must be a quantity such as "500m" or 2, got "1x"',
	],
	[
		'a quantity beyond all bounds',
		aPodWith({resources: {requests: {memory: '1e300'}}}),
		'spec.containers[0].resources.requests.memory: is more than any node has, got "1e300"',
	],
	[
		'a request above the limit',
		aPodWith({resources: {requests: {memory: '2Mi'}, limits: {memory: '1Mi'}}}),
		'spec.containers[0].resources.requests.memory: must be at most the limit of "1Mi", got "2Mi"',
	],
	[
		'a resource nobody gives',
		aPodWith({resources: {limits: {gpu: 1}}}),
		'spec.containers[0].resources.limits.gpu: the resource "gpu" is not supported yet; cpu, memory and nvidia.com/gpu are',
	],
	[
		'a field of Kubernetes that is not here yet',
		{...aPod(), spec: {...aPod().spec, overhead: {}}},
		'spec.overhead: "overhead" is not supported yet',
	],
	['another scheduler', aPod({schedulerName: 'mine'}), 'spec.schedulerName: "mine" is not supported yet; "default-scheduler" is'],
	[
		'a toleration of every value without a key',
		aPod({tolerations: [{operator: 'Equal', value: 'x'}]}),
		'spec.tolerations[0].operator: must be Exists when the key is empty',
	],
	['a pod without a name', {...aPod(), metadata: {}}, 'metadata.name: a name or generateName is required'],
	['a new object with a resourceVersion', aPod({}, {resourceVersion: '5'}), 'metadata.resourceVersion: must not be set on a new object'],
	['an empty selector', aReplicaSet({selector: {}}), 'spec.selector: must not be empty: it would select everything'],
	[
		'a selector that misses its own pods',
		aReplicaSet({selector: {matchLabels: {app: 'db'}}}),
		'spec.template.metadata.labels: must match spec.selector: the pods would not be found again',
	],
	[
		'a template that gives up',
		aReplicaSet({template: {metadata: {labels: {app: 'web'}}, spec: {containers: [aContainer()], restartPolicy: 'Never'}}}),
		'spec.template.spec.restartPolicy: must be Always in a ReplicaSet, got "Never"',
	],
	[
		'a namespace with a dot',
		{apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'a.b'}},
		'metadata.name: must be lower-case letters, digits and "-", with a letter or digit at both ends, at most 63 characters, got "a.b"',
	],
	[
		'a node in a namespace',
		{apiVersion: 'v1', kind: 'Node', metadata: {name: 'a', namespace: 'b'}},
		'metadata.namespace: a Node is in no namespace, got "b"',
	],
	[
		'a node named control',
		{apiVersion: 'v1', kind: 'Node', metadata: {name: 'control'}},
		'metadata.name: "control" is the name of the control plane',
	],
	[
		'a second ClusterConfig',
		{apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'mine'}},
		'metadata.name: there is one ClusterConfig, and its name is "cluster", got "mine"',
	],
];

for (const [title, manifest, problem] of refusals) {
	test(`refuses ${title}`, t => t.deepEqual(problemsOf(manifest), [problem]));
}

test('fields that ask for nothing are admitted', t => {
	const spec = {
		volumes: [],
		hostNetwork: false,
		dnsPolicy: 'ClusterFirst',
		serviceAccountName: 'default',
		imagePullSecrets: [{name: 's'}],
	} as const;
	t.deepEqual(problemsOf(aPod(spec)), []);
	t.deepEqual(problemsOf(aPodWith({tty: false, stdin: false, resources: {}, terminationMessagePath: '/dev/termination-log'})), []);
});

test('tolerations are kept', t => {
	const tolerations = [{key: 'a', operator: 'Exists', effect: 'NoSchedule'}] as const;
	t.like(admitCreate(aPod({tolerations})), {ok: true, value: {spec: {tolerations}}});
});

test('null means absent, and a new object has no status and nothing of the server', t => {
	const manifest = {...aPod({}, {creationTimestamp: null, uid: 'x', generation: 3, managedFields: [{}]}), status: {phase: 'Running'}};
	const admitted = admitCreate(manifest);
	t.deepEqual(admitted.ok ? [admitted.value.metadata, admitted.value.status] : admitted.error.message, [
		{name: 'web', namespace: 'default'},
		undefined,
	]);
});

test('a field named __proto__ is refused and changes nothing', t => {
	const manifest: unknown = JSON.parse(
		'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"__proto__":"x"}},"spec":{"containers":[{"name":"a","image":"b"}],"__proto__":{"nodeName":"n"}}}',
	);
	t.deepEqual(problemsOf(manifest), [
		'metadata.labels.__proto__: "__proto__" cannot be the name of a field',
		'spec.__proto__: "__proto__" cannot be the name of a field',
	]);
	t.is(({} as {nodeName?: string}).nodeName, undefined);
});

test('what is nested too deep is refused, not followed', t => {
	const deep: unknown = JSON.parse(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`);
	t.true(
		problemsOf({...aPod(), spec: {...aPod().spec, affinity: deep}}).some(problem =>
			problem.endsWith(`is nested deeper than ${limits.objectDepth} levels`),
		),
	);
});

test('an object above the size limit is refused with its size', t => {
	const admitted = admitCreate(aPodWith({args: ['x'.repeat(limits.objectBytes)]}));
	t.is(admitted.ok ? '' : admitted.error.code, 'ERR_TOO_LARGE');
	t.regex(admitted.ok ? '' : admitted.error.message, /^the object "web" has 10\d{5} bytes; 1048576 are allowed$/);
});

test('of very many problems some are told and the rest counted', t => {
	const ports = Array.from({length: 500}, () => ({containerPort: 'x'}));
	const problems = problemsOf(aPodWith({ports}));
	t.is(problems.length, limits.problemsShown + 1);
	t.is(problems.at(-1), 'and 400 more problems');
});

const strangers: readonly [manifest: unknown, message: string][] = [
	[null, 'an object is expected, got nothing'],
	[[], 'an object is expected, got a list'],
	[{}, 'apiVersion is required, got nothing'],
	[{apiVersion: 'v1', kind: 'pod'}, 'there is no kind "pod" in "v1"; did you mean Pod?'],
	[{apiVersion: 'v1', kind: 'ReplicaSet'}, 'there is no ReplicaSet in "v1"; its apiVersion is apps/v1'],
	[{apiVersion: 'apps/v2', kind: 'Deployment'}, 'there is no Deployment in "apps/v2"; its apiVersion is apps/v1'],
	[{apiVersion: 'apps/v1', kind: 'deployment'}, 'there is no kind "deployment" in "apps/v1"; did you mean Deployment?'],
	[{apiVersion: 'apps/v1', kind: 'Replicaset'}, 'there is no kind "Replicaset" in "apps/v1"; did you mean ReplicaSet?'],
	[{apiVersion: 'autoscaling/v2', kind: 'Hpa'}, 'there is no Hpa in "autoscaling/v2"; its apiVersion is v1'],
	[{apiVersion: 'v1', kind: 'Event'}, 'an Event is made by the cluster; it cannot be applied'],
];

for (const [manifest, message] of strangers) {
	test(`${JSON.stringify(manifest)} is a bad request`, t =>
		t.like(admitCreate(manifest), {ok: false, error: {code: 'ERR_BAD_REQUEST', message}}));
}

test('an update keeps what the server set and takes what the client may', t => {
	const old = committed(aReplicaSet());
	const admitted = admitUpdate(
		{
			...aReplicaSet({replicas: 5}),
			metadata: {name: 'web', resourceVersion: '3', creationTimestamp: '1999-01-01T00:00:00Z', labels: {a: 'b'}},
		},
		old,
	);
	t.like(admitted, {
		ok: true,
		value: {
			metadata: {
				uid: 'u-1',
				generation: 1,
				resourceVersion: '3',
				creationTimestamp: '2026-01-01T00:00:00Z',
				namespace: 'default',
				labels: {a: 'b'},
			},
			spec: {replicas: 5},
		},
	});
});

test('an object stays of its kind', t => {
	const old = committed(aPod());
	for (const change of [{kind: 'ConfigMap'}, {apiVersion: 'apps/v1', kind: 'ReplicaSet'}]) {
		const admitted = admitUpdate({...old, ...change}, old);
		t.regex(admitted.ok ? '' : admitted.error.message, /the object is a Pod of v1, got a (ConfigMap of v1|ReplicaSet of apps\/v1)/);
	}
});

test('an unchanged object is a right update of itself', t => {
	for (const manifest of [aPod(), aReplicaSet(), {apiVersion: 'v1', kind: 'Node', metadata: {name: 'n'}}]) {
		const old = committed(manifest);
		const admitted = admitUpdate(old, old);
		t.deepEqual(admitted.ok ? admitted.value : admitted.error, old);
	}
});

const changes: readonly [title: string, old: unknown, change: (object: ReturnType<typeof committed>) => unknown, problem: string][] = [
	[
		'the name',
		aPod(),
		object => ({...object, metadata: {...object.metadata, name: 'b'}}),
		'metadata.name: cannot be changed: it is "web", got "b"',
	],
	[
		'the uid',
		aPod(),
		object => ({...object, metadata: {...object.metadata, uid: 'u-2'}}),
		'metadata.uid: cannot be changed: it is "u-1", got "u-2"',
	],
	[
		'a pod’s command',
		aPod(),
		object => ({...object, spec: {containers: [aContainer({command: ['sh']})]}}),
		'spec.containers[0].command[0]: cannot be changed; delete the pod and create it again',
	],
	[
		'a pod’s image',
		aPod(),
		object => ({...object, spec: {containers: [aContainer({image: 'node:22'})]}}),
		'spec.containers[0].image: changing the image of a pod is not supported yet; delete the pod and create it again',
	],
	[
		'the node of a bound pod',
		aPod({nodeName: 'a'}),
		object => ({...object, spec: {containers: [aContainer()], nodeName: 'b'}}),
		'spec.nodeName: cannot be changed; delete the pod and create it again',
	],
	[
		'a toleration',
		aPod({tolerations: [{key: 'a', operator: 'Exists'}]}),
		object => ({...object, spec: {containers: [aContainer()]}}),
		'spec.tolerations: tolerations can be added, but not changed or removed: "a"',
	],
	[
		'a selector',
		aReplicaSet(),
		object => ({
			...object,
			spec: {
				selector: {matchLabels: {app: 'x'}},
				template: {metadata: {labels: {app: 'x'}}, spec: {containers: [aContainer()]}},
			},
		}),
		'spec.selector: cannot be changed; delete the object and create it again',
	],
];

for (const [title, manifest, change, problem] of changes) {
	test(`an update cannot change ${title}`, t => {
		const old = committed(manifest);
		const admitted = admitUpdate(change(old), old);
		t.is(admitted.ok ? '' : admitted.error.message, problem);
	});
}

test('a pod can be bound once, and get a toleration', t => {
	const old = committed(aPod());
	t.true(admitUpdate({...old, spec: {...aPod().spec, nodeName: 'n', tolerations: [{operator: 'Exists'}]}}, old).ok);
});

test('a status from outside is checked like everything else', t => {
	const old = committed(aPod(), {phase: 'Pending'});
	t.true(admitUpdate({...old, status: {phase: 'Running', containerStatuses: []}}, old).ok);
	const admitted = admitUpdate({...old, status: {phase: 'Happy', containerStatuses: [{name: 'a'}], fase: 1}}, old);
	t.deepEqual(admitted.ok ? [] : admitted.error.message.split('\n').sort(), [
		'status.containerStatuses[0].image: is required',
		'status.containerStatuses[0].imageID: is required',
		'status.containerStatuses[0].ready: is required',
		'status.containerStatuses[0].restartCount: is required',
		'status.fase: unknown field "fase"; did you mean "phase"?',
		'status.phase: must be one of Pending, Running, Succeeded, Failed, Unknown, got "Happy"',
	]);
});
