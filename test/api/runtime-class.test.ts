// What a pod may ask of the class that runs it, and what its class keeps.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import {requiredFeatures} from '../../api/features.js';
import {hostNameOf} from '../../api/host-name.js';
import {defaultClassOf} from '../../api/kinds/clusterconfig.js';
import type {PodSpec} from '../../api/kinds/pod.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {runtimeClasses, runtimeClassOf, type RuntimeClass} from '../../api/runtime-class.js';
import {aContainer, aPod, aReplicaSet, committed, problemsOf} from './_objects.js';

type Fields = {readonly [field: string]: unknown};

/** A pod of a class; without one it is known only when the pod is made. */
const ofClass = (runtimeClassName: RuntimeClass | undefined, spec: Fields) =>
	aPod({...(spec as Partial<PodSpec>), ...(runtimeClassName === undefined ? {} : {runtimeClassName})});
const container = (fields: Fields): Fields => ({containers: [aContainer(fields)]});
const mounted = (...places: readonly string[]): Fields => ({
	...container({volumeMounts: places.map(mountPath => ({name: 'v', mountPath}))}),
	volumes: [{name: 'v', emptyDir: {}}],
});
const inContainer = 'spec.containers[0]';
const toDocker = 'needs runtimeClassName: docker, and here it is process';

/** What one class does, and how the other refuses it. */
const ofDockerAlone: readonly (readonly [title: string, spec: Fields, ...problems: string[]])[] = [
	['the processes of the node', {hostPID: true}, `spec.hostPID: ${toDocker}`],
	['the IPC of the node', {hostIPC: true}, `spec.hostIPC: ${toDocker}`],
	['processes that see each other', {shareProcessNamespace: true}, `spec.shareProcessNamespace: ${toDocker}`],
	[
		'groups of the image',
		{securityContext: {supplementalGroupsPolicy: 'Merge'}},
		`spec.securityContext.supplementalGroupsPolicy: ${toDocker}`,
	],
	['a filter of calls', {securityContext: {seccompProfile: {type: 'RuntimeDefault'}}}, `spec.securityContext.seccompProfile: ${toDocker}`],
	[
		'a filter of calls of one container',
		container({securityContext: {seccompProfile: {type: 'RuntimeDefault'}}}),
		`${inContainer}.securityContext.seccompProfile: ${toDocker}`,
	],
	['all rights', container({securityContext: {privileged: true}}), `${inContainer}.securityContext.privileged: ${toDocker}`],
	[
		'some rights more',
		container({securityContext: {capabilities: {add: ['NET_ADMIN', 'cap_sys_time', 'ALL']}}}),
		`${inContainer}.securityContext.capabilities: ${toDocker}`,
	],
	[
		'no rights',
		{initContainers: [aContainer({name: 'first', securityContext: {capabilities: {drop: ['ALL']}}})]},
		`spec.initContainers[0].securityContext.capabilities: ${toDocker}`,
	],
	[
		'a port of one address of the node',
		container({ports: [{containerPort: 80, hostPort: 8080, hostIP: '127.0.0.1'}]}),
		`${inContainer}.ports[0].hostIP: ${toDocker}`,
	],
	[
		'mounts where the programs of a node are',
		mounted('/usr', '/usr/bin/', '//lib/.', '/etc', '/./sys/x'),
		...[
			['/usr', 'programs that start containers are there'],
			['/usr/bin', 'programs that start containers are there'],
			['/lib', 'programs that start containers are there'],
			['/etc', 'what programs that start containers go by is there'],
			['/sys/x', 'it belongs to the kernel'],
		].map(
			([place, why], i) =>
				`${inContainer}.volumeMounts[${i}].mountPath: nothing can be mounted at "${place}" in a pod of class process: ${why}`,
		),
	],
];

const ofProcessAlone: readonly (readonly [title: string, spec: Fields, ...problems: string[]])[] = [
	[
		'a volume of NFS',
		{volumes: [{name: 'v', nfs: {server: 'files', path: '/srv'}}]},
		'spec.volumes[0].nfs: needs runtimeClassName: process, and here it is docker',
	],
	[
		'less memory than an Engine limits to',
		container({resources: {limits: {memory: '5Mi'}}}),
		`${inContainer}.resources.limits.memory: must be at least 6Mi in a pod of class docker, got "5Mi"`,
	],
	[
		'an image that is only a name',
		container({image: 'My Program'}),
		`${inContainer}.image: must be the name of an image, such as nginx:1.27, got "My Program": its name has to be in lower case`,
	],
];

for (const [title, spec, ...problems] of ofDockerAlone) {
	test(`of class docker there may be ${title}, of class process it is refused by name`, t => {
		t.deepEqual(problemsOf(ofClass('docker', spec)), []);
		t.deepEqual(problemsOf(ofClass('process', spec)), problems);
		t.deepEqual(problemsOf(ofClass(undefined, spec)), []);
	});
}

for (const [title, spec, ...problems] of ofProcessAlone) {
	test(`of class process there may be ${title}, of class docker it is refused by name`, t => {
		t.deepEqual(problemsOf(ofClass('process', spec)), []);
		t.deepEqual(problemsOf(ofClass('docker', spec)), problems);
		t.deepEqual(problemsOf(ofClass(undefined, spec)), []);
	});
}

test('a template that names its class is held to it, and one that names none is not', t => {
	const template = (spec: Fields): JsonObject => ({
		metadata: {labels: {app: 'web'}},
		spec: {containers: [aContainer()], hostPID: true, ...spec},
	});
	t.deepEqual(problemsOf(aReplicaSet({template: template({runtimeClassName: 'process'})})), [`spec.template.spec.hostPID: ${toDocker}`]);
	t.deepEqual(problemsOf(aReplicaSet({template: template({runtimeClassName: 'docker'})})), []);
	t.deepEqual(problemsOf(aReplicaSet({template: template({})})), []);
});

test('what is so anyway is admitted of class process', t => {
	const spec = {
		hostPID: false,
		shareProcessNamespace: false,
		securityContext: {supplementalGroupsPolicy: 'Strict', seccompProfile: {type: 'Unconfined'}},
		...container({
			securityContext: {privileged: false, capabilities: {add: [], drop: []}, seccompProfile: {type: 'Unconfined'}},
			ports: [{containerPort: 80, hostIP: '0.0.0.0'}],
		}),
	};
	t.deepEqual(problemsOf(ofClass('process', spec)), []);
});

for (const [title, spec, ...problems] of [
	['a class that there is not', {runtimeClassName: 'gvisor'}, 'spec.runtimeClassName: must be one of process, docker, got "gvisor"'],
	[
		'a class in capitals',
		{runtimeClassName: 'Docker'},
		'spec.runtimeClassName: must be one of process, docker, got "Docker"; did you mean "docker"?',
	],
	[
		'two ways to see processes',
		{shareProcessNamespace: true, hostPID: true},
		'spec.shareProcessNamespace: ShareProcessNamespace and HostPID cannot both be enabled',
	],
	[
		'another port of the node on its own network',
		{hostNetwork: true, ...container({ports: [{containerPort: 80, hostPort: 8080}]})},
		`${inContainer}.ports[0].hostPort: must be its containerPort with hostNetwork, got 8080`,
	],
	[
		'another port of the node on its own network, of a sidecar',
		{
			hostNetwork: true,
			initContainers: [aContainer({name: 'first', restartPolicy: 'Always', ports: [{containerPort: 80, hostPort: 8080}]})],
			...container({}),
		},
		'spec.initContainers[0].ports[0].hostPort: must be its containerPort with hostNetwork, got 8080',
	],
	[
		'all rights without more rights',
		container({securityContext: {privileged: true, allowPrivilegeEscalation: false}}),
		`${inContainer}.securityContext: cannot set \`allowPrivilegeEscalation\` to false and \`privileged\` to true`,
	],
	[
		'rights that there are not',
		container({securityContext: {capabilities: {add: ['NET_ADMNI'], drop: ['CAP_', 'all']}}}),
		`${inContainer}.securityContext.capabilities.add[0]: must be a capability such as NET_ADMIN, or ALL, got "NET_ADMNI"; did you mean "NET_ADMIN"?`,
		`${inContainer}.securityContext.capabilities.drop[0]: must be a capability such as NET_ADMIN, or ALL, got "CAP_"`,
	],
	[
		'a filter that is a file',
		{securityContext: {seccompProfile: {type: 'Localhost', localhostProfile: 'a.json'}}},
		'spec.securityContext.seccompProfile.localhostProfile: "localhostProfile" is not supported yet',
		'spec.securityContext.seccompProfile.type: must be one of RuntimeDefault, Unconfined, got "Localhost"',
	],
	[
		'lines in a table of hosts',
		{hostAliases: [{ip: '10.0.0.1\n10.0.0.2', hostnames: ['a b', 'ok']}]},
		'spec.hostAliases[0].ip: must be an IP address, got "10.0.0.1\\n10.0.0.2"',
		'spec.hostAliases[0].hostnames[0]: must be lower-case letters, digits, "-" and ".", with a letter or digit at both ends, at most 253 characters, got "a b"',
	],
	[
		'an address of a port that is none',
		container({ports: [{containerPort: 80, hostPort: 80, hostIP: 'localhost'}]}),
		`${inContainer}.ports[0].hostIP: must be an IP address, got "localhost"`,
	],
	[
		'a port of one address twice',
		container({ports: ['10.0.0.1', '10.0.0.2', '10.0.0.1'].map((hostIP, i) => ({containerPort: 80 + i, hostPort: 80, hostIP}))}),
		`${inContainer}.ports[2].hostPort: host port 80/TCP of 10.0.0.1 is taken by ${inContainer}.ports[0].hostPort already`,
	],
	[
		"mounts that start a container, or are the kernel's",
		mounted('/proc/sys', '/.troupe-gate', '/.troupe-gated', '/sys/fs/cgroup'),
		`${inContainer}.volumeMounts[0].mountPath: nothing can be mounted at "/proc/sys" in a pod of class docker`,
		`${inContainer}.volumeMounts[1].mountPath: nothing can be mounted at "/.troupe-gate" in a pod of class docker`,
	],
] as readonly (readonly [title: string, spec: Fields, ...problems: string[]])[]) {
	test(`refuses ${title}`, t => t.deepEqual(problemsOf({...aPod(), spec: {...ofClass('docker', {}).spec, ...spec}}), problems));
}

test('rules of a class look at what the schema refused, and do not throw', t => {
	for (const runtimeClassName of runtimeClasses)
		for (const wrong of [null, 7, 'x', [], [7], {a: 1}]) {
			const spec = {
				runtimeClassName,
				volumes: wrong,
				securityContext: wrong,
				hostAliases: wrong,
				hostNetwork: wrong,
				containers: [{name: 'a', image: wrong, ports: wrong, volumeMounts: wrong, securityContext: wrong}],
			};
			t.true(problemsOf({...aPod(), spec}).length > 0);
		}
});

test('on the network of its node a port is one of the node', t => {
	for (const runtimeClass of runtimeClasses) {
		const admitted = admitCreate(
			ofClass(runtimeClass, {hostNetwork: true, ...container({ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81}]})}),
		);
		t.deepEqual(
			admitted.ok ? (admitted.value.spec as PodSpec).containers[0]?.ports?.map(({hostPort}) => hostPort) : admitted.error.message,
			[80, 81],
		);
	}
});

// ---- for life ------------------------------------------------------------------------------------------------------------

const classAfter = (old: ApiObject, spec: Fields): unknown => {
	const outcome = admitUpdate({...old, spec}, old);
	return outcome.ok ? (outcome.value.spec as PodSpec).runtimeClassName : outcome.error.message;
};

const changed = 'cannot be changed; delete the pod and create it again';

test('a pod keeps its class: a client that does not know of it may write it again, another class is refused', t => {
	const old = committed(ofClass('docker', {}));
	const {runtimeClassName: _, ...spec} = old.spec as PodSpec;
	t.is(classAfter(old, spec), 'docker');
	t.is(classAfter(old, {...spec, runtimeClassName: 'docker'}), 'docker');
	t.is(classAfter(old, {...spec, runtimeClassName: 'process'}), `spec.runtimeClassName: ${changed}`);
});

test('a pod of before there were classes is one of class process, whether it says so or not', t => {
	const old = committed(aPod());
	t.is(classAfter(old, old.spec as Fields), undefined);
	t.is(classAfter(old, {...(old.spec as Fields), runtimeClassName: 'process'}), 'process');
	t.is(classAfter(old, {...(old.spec as Fields), runtimeClassName: 'docker'}), `spec.runtimeClassName: ${changed}`);
	t.is(runtimeClassOf(old.spec as PodSpec), 'process');
});

test('the class of new pods is a setting, process where nothing says another one', t => {
	const configured = (spec: JsonObject): unknown => {
		const outcome = admitCreate({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata: {name: 'cluster'}, spec});
		return outcome.ok ? outcome.value.spec : outcome.error.message;
	};
	const others = {nodes: {grace: '5s'}, workflows: {httpHosts: []}, slurm: {hosts: []}, autoscaling: {prometheusHosts: []}};
	t.deepEqual(configured({}), {scheduler: {strategy: 'least-pods'}, runtime: {default: 'process'}, ...others});
	t.deepEqual(configured({runtime: {default: 'docker'}}), {scheduler: {strategy: 'least-pods'}, runtime: {default: 'docker'}, ...others});
	t.is(
		configured({runtime: {default: 'dokcer'}}),
		'spec.runtime.default: must be one of process, docker, got "dokcer"; did you mean "docker"?',
	);
	t.is(defaultClassOf(undefined), 'process');
	t.is(defaultClassOf({spec: {scheduler: {strategy: 'random'}}}), 'process');
	t.is(defaultClassOf({spec: {runtime: {default: 'docker'}}}), 'docker');
});

// ---- what a node has to be able to ---------------------------------------------------------------------------------------

const features = (runtimeClassName: RuntimeClass | undefined, spec: Fields): readonly string[] =>
	requiredFeatures(ofClass(runtimeClassName, spec).spec);

test('what depends on the host of a process depends on nothing of class docker; volumes of claims do', t => {
	const spec = {
		securityContext: {runAsUser: 1000, fsGroup: 7},
		volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'c'}}],
		...container({tty: true, ports: [{containerPort: 80, hostPort: 8080}], volumeMounts: [{name: 'v', mountPath: '/v'}]}),
	};
	t.deepEqual(features('process', spec), ['claims', 'hostPorts', 'terminal', 'users', 'volumes']);
	t.deepEqual(features(undefined, spec), ['claims', 'hostPorts', 'terminal', 'users', 'volumes']);
	t.deepEqual(features('docker', spec), ['claims']);
});

test('of class process the network of the node, and names of its own, are asked of the node', t => {
	t.deepEqual(features('process', {hostNetwork: true, ...container({ports: [{containerPort: 80, hostPort: 80}]})}), ['hostNetwork']);
	t.deepEqual(features('process', {hostNetwork: true, hostAliases: [{ip: '10.0.0.1', hostnames: ['db']}]}), ['hostNetwork', 'names']);
	t.deepEqual(features('process', {dnsPolicy: 'None', dnsConfig: {nameservers: ['10.0.0.1']}}), ['names']);
	t.deepEqual(features('process', {dnsConfig: {options: [{name: 'ndots', value: '1'}]}}), ['names']);
	for (const dnsPolicy of ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default'])
		t.deepEqual(features('process', {dnsPolicy, dnsConfig: {searches: []}, hostAliases: []}), []);
	t.deepEqual(features('docker', {dnsPolicy: 'None', dnsConfig: {nameservers: ['10.0.0.1']}}), []);
});

for (const [title, spec, needed] of [
	['all rights', container({securityContext: {privileged: true}}), true],
	['the network of the node', {hostNetwork: true}, true],
	['the processes of the node', {hostPID: true}, true],
	['the IPC of the node', {hostIPC: true}, true],
	['rights beyond those of Docker', container({securityContext: {capabilities: {add: ['CHOWN', 'NET_ADMIN']}}}), true],
	['all rights by name', container({securityContext: {capabilities: {add: ['all']}}}), true],
	[
		'rights that it has anyway',
		container({securityContext: {capabilities: {add: ['CHOWN', 'CAP_NET_BIND_SERVICE'], drop: ['ALL']}}}),
		false,
	],
	['all calls', {securityContext: {seccompProfile: {type: 'Unconfined'}}}, true],
	['all calls for one container', container({securityContext: {seccompProfile: {type: 'Unconfined'}}}), true],
	[
		'all calls, and none of its containers them',
		{securityContext: {seccompProfile: {type: 'Unconfined'}}, ...container({securityContext: {seccompProfile: {type: 'RuntimeDefault'}}})},
		false,
	],
	['processes of its own', {shareProcessNamespace: true, hostAliases: [{ip: '10.0.0.1'}]}, false],
	['all rights before', {initContainers: [aContainer({name: 'first', securityContext: {privileged: true}})]}, true],
] as readonly (readonly [title: string, spec: Fields, needed: boolean])[]) {
	test(`a node ${needed ? 'has to allow' : 'is not asked for'} ${title}`, t =>
		t.deepEqual(features('docker', spec), needed ? ['privileged'] : []));
}

test('a host is called as the pod is, and of class docker no longer than a host may be', t => {
	const name = `${'a'.repeat(60)}-b.c-d`;
	const of = (runtimeClassName: RuntimeClass, hostname?: string): string =>
		hostNameOf(name, {containers: [], runtimeClassName, ...(hostname === undefined ? {} : {hostname})});
	t.is(of('process'), name);
	t.is(of('docker'), `${'a'.repeat(60)}-b`);
	t.is(of('docker', 'front'), 'front');
	t.is(of('process', ''), name);
});
