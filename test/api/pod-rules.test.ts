// Rules of probes, hooks, volumes, mounts, init containers and the environment of pods.

import test from 'ava';
import {admitCreate, admitUpdate} from '../../api/admission.js';
import type {PodSpec} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {resourceValue} from '../../api/resource-field.js';
import {aContainer, aPod, aPodWith, committed, problemsOf} from './_objects.js';

/** A pod with one volume of this source. */
const withVolume = (volume: JsonObject) => ({...aPod(), spec: {containers: [aContainer()], volumes: [{name: 'v', ...volume}]}});

/** A pod whose container sees the volume `data` so. */
const mounted = (...mounts: readonly JsonObject[]) => ({
	...aPod(),
	spec: {
		containers: [{...aContainer(), volumeMounts: mounts.map(mount => ({name: 'data', ...mount}))}],
		volumes: [{name: 'data', emptyDir: {}}],
	},
});

const probe = (fields: JsonObject) => aPodWith({livenessProbe: fields});
const inContainer = 'spec.containers[0]';
const groups = (count: number): readonly number[] => Array.from({length: count}, (_, group) => group);

const admitted: readonly [title: string, manifest: unknown][] = [
	[
		'probes of all sorts',
		aPodWith({
			ports: [{containerPort: 80, name: 'http'}],
			startupProbe: {exec: {command: ['true']}, failureThreshold: 30},
			livenessProbe: {httpGet: {port: 'http', path: '/healthz?full=1', httpHeaders: [{name: 'X-Probe', value: 'yes'}]}},
			readinessProbe: {tcpSocket: {port: 80}, successThreshold: 3},
		}),
	],
	['hooks of all sorts', aPodWith({lifecycle: {postStart: {exec: {command: ['a']}}, preStop: {sleep: {seconds: 5}}}})],
	[
		'volumes of all sorts',
		{
			...aPod(),
			spec: {
				initContainers: [{...aContainer({name: 'first'}), volumeMounts: [{name: 'scratch', mountPath: '/scratch'}]}],
				containers: [aContainer()],
				volumes: [
					{name: 'host', hostPath: {path: '/srv/data', type: 'DirectoryOrCreate'}},
					{name: 'scratch', emptyDir: {medium: 'Memory', sizeLimit: '64Mi'}},
					{name: 'settings', configMap: {name: 'c', items: [{key: 'a', path: 'b/c', mode: 0o600}], defaultMode: 0o440}},
					{name: 'login', secret: {secretName: 's', optional: true}},
				],
			},
		},
	],
	[
		'an init container on the host port of another one',
		{
			...aPod(),
			spec: {
				initContainers: [aContainer({name: 'first', ports: [{containerPort: 80, hostPort: 80}]})],
				containers: [aContainer({ports: [{containerPort: 80, hostPort: 80}]})],
			},
		},
	],
	[
		'mounts beside what the host needs',
		mounted(
			{mountPath: '/usr/share/x'},
			{mountPath: '/etc/app'},
			{mountPath: '/dev/shm'},
			{mountPath: '/process'},
			{mountPath: '/usr/local/share'},
		),
	],
	['a mount with a slash at its end', mounted({mountPath: '/shared_dir/', subPath: 'a/b'})],
	['users and groups', aPod({securityContext: {runAsUser: 1000, runAsGroup: 0, fsGroup: 0, runAsNonRoot: true, supplementalGroups: [7]}})],
	['as many groups as there may be', aPod({securityContext: {fsGroup: 0, supplementalGroups: groups(limits.containerGroups)}})],
	['a terminal', aPodWith({stdin: true, tty: true, terminationMessagePolicy: 'FallbackToLogsOnError'})],
	['a deadline', aPod({activeDeadlineSeconds: 30})],
	[
		'all that a container may be told of its pod',
		aPodWith({
			resources: {limits: {cpu: 1, memory: '1Mi'}},
			env: [
				...[
					'spec.nodeName',
					'spec.serviceAccountName',
					'status.hostIP',
					'status.podIPs',
					"metadata.labels['app']",
					"metadata.annotations['a/b']",
				].map((fieldPath, i) => ({name: `F${i}`, valueFrom: {fieldRef: {fieldPath}}})),
				...['limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'].map((resource, i) => ({
					name: `R${i}`,
					valueFrom: {resourceFieldRef: {resource, divisor: resource.endsWith('cpu') ? '1m' : '1Ki'}},
				})),
			],
		}),
	],
];

for (const [title, manifest] of admitted) test(`admits ${title}`, t => t.deepEqual(problemsOf(manifest), []));

const refused: readonly [title: string, manifest: unknown, ...problems: string[]][] = [
	[
		'a probe that does nothing',
		probe({periodSeconds: 3}),
		`${inContainer}.livenessProbe: must be one of exec, httpGet, tcpSocket, got none`,
	],
	[
		'a probe that does two things',
		probe({exec: {command: ['a']}, tcpSocket: {port: 1}}),
		`${inContainer}.livenessProbe: must be one of exec, httpGet, tcpSocket, got exec and tcpSocket`,
	],
	['a probe of a later version', probe({grpc: {port: 1}}), `${inContainer}.livenessProbe.grpc: "grpc" is not supported yet`],
	[
		'more groups than a program may have',
		aPod({securityContext: {supplementalGroups: groups(70_000)}}),
		`spec.securityContext.supplementalGroups: must be at most ${limits.containerGroups} groups, with fsGroup, got 70000`,
	],
	[
		'one group more, by fsGroup',
		aPod({runtimeClassName: 'docker', securityContext: {fsGroup: 5_000, supplementalGroups: groups(limits.containerGroups)}}),
		`spec.securityContext.supplementalGroups: must be at most ${limits.containerGroups} groups, with fsGroup, got ${limits.containerGroups + 1}`,
	],
	['a probe without a command', probe({exec: {command: []}}), `${inContainer}.livenessProbe.exec.command: is required`],
	[
		'a probe of a port that has no such name',
		aPodWith({ports: [{containerPort: 80, name: 'http'}], livenessProbe: {tcpSocket: {port: 'htpp'}}}),
		`${inContainer}.livenessProbe.tcpSocket.port: there is no port named "htpp" in the container; did you mean "http"?`,
	],
	[
		'a port in quotes',
		probe({httpGet: {port: '80'}}),
		`${inContainer}.livenessProbe.httpGet.port: there is no port named "80" in the container; leave out the quotes`,
	],
	[
		'a port that is none',
		probe({httpGet: {port: 0}}),
		`${inContainer}.livenessProbe.httpGet.port: must be a port from 1 to 65535 or the name of one, got 0`,
	],
	...[-1, 0, 65_536].map((port): [string, unknown, string] => [
		`a container port of ${port}`,
		aPodWith({ports: [{containerPort: port}]}),
		`${inContainer}.ports[0].containerPort: must be a whole number from 1 to 65535, got ${port}`,
	]),
	...[-1, 0, 65_536].map((port): [string, unknown, string] => [
		`a host port of ${port}`,
		aPodWith({ports: [{containerPort: 80, hostPort: port}]}),
		`${inContainer}.ports[0].hostPort: must be a whole number from 1 to 65535, got ${port}`,
	]),
	[
		'a liveness that has to be shown twice',
		probe({tcpSocket: {port: 1}, successThreshold: 2}),
		`${inContainer}.livenessProbe.successThreshold: must be 1 in a livenessProbe, got 2`,
	],
	[
		'a period of nothing',
		probe({tcpSocket: {port: 1}, periodSeconds: 0}),
		`${inContainer}.livenessProbe.periodSeconds: must be a whole number from 1 to 2147483647, got 0`,
	],
	[
		'a grace where nothing is stopped',
		aPodWith({readinessProbe: {tcpSocket: {port: 1}, terminationGracePeriodSeconds: 3}}),
		`${inContainer}.readinessProbe.terminationGracePeriodSeconds: must not be set in a readinessProbe: nothing is stopped when it fails`,
	],
	[
		'a request within a request',
		probe({httpGet: {port: 1, path: '/ HTTP/1.1\r\nHost: x'}}),
		`${inContainer}.livenessProbe.httpGet.path: must not contain spaces or control characters`,
	],
	[
		'a header within a header, and its value is not told',
		probe({httpGet: {port: 1, httpHeaders: [{name: 'a b', value: 'hunter2\nX: y'}]}}),
		`${inContainer}.livenessProbe.httpGet.httpHeaders[0].name: must be the name of a header, got "a b"`,
		`${inContainer}.livenessProbe.httpGet.httpHeaders[0].value: must not contain line ends or a NUL character`,
	],
	[
		'a hook that sleeps longer than the pod may',
		{...aPod(), spec: {containers: [{...aContainer(), lifecycle: {preStop: {sleep: {seconds: 31}}}}]}},
		`${inContainer}.lifecycle.preStop.sleep.seconds: must be at most terminationGracePeriodSeconds (30), got 31`,
	],
	[
		'a hook that is empty',
		aPodWith({lifecycle: {preStop: {}}}),
		`${inContainer}.lifecycle.preStop: must be one of exec, httpGet, tcpSocket, sleep, got none`,
	],
	[
		'a volume of nothing',
		withVolume({}),
		'spec.volumes[0]: must be one of hostPath, emptyDir, configMap, secret, nfs, persistentVolumeClaim, got none',
	],
	[
		'a volume of two things',
		withVolume({emptyDir: {}, secret: {secretName: 's'}}),
		'spec.volumes[0]: must be one of hostPath, emptyDir, configMap, secret, nfs, persistentVolumeClaim, got emptyDir and secret',
	],
	['a volume of a later version', withVolume({csi: {}}), 'spec.volumes[0].csi: "csi" is not supported yet'],
	[
		'an NFS server that would be an option',
		withVolume({nfs: {server: '-oexec', path: '/srv'}}),
		'spec.volumes[0].nfs.server: must be the name or the address of a host, got "-oexec"',
	],
	[
		'a volume with a wrong name',
		withVolume({name: 'My_Data', emptyDir: {}}),
		'spec.volumes[0].name: must be lower-case letters, digits and "-", with a letter or digit at both ends, at most 63 characters, got "My_Data"',
	],
	[
		'a host path that is relative',
		withVolume({hostPath: {path: 'srv'}}),
		'spec.volumes[0].hostPath.path: must be an absolute path, beginning with "/", got "srv"',
	],
	[
		'a host path that goes up',
		withVolume({hostPath: {path: '/srv/../etc'}}),
		'spec.volumes[0].hostPath.path: must not contain "..", got "/srv/../etc"',
	],
	[
		'a host path of no known type',
		withVolume({hostPath: {path: '/a', type: 'directory'}}),
		'spec.volumes[0].hostPath.type: must be one of DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice, BlockDevice, got "directory"; did you mean "Directory"?',
	],
	[
		'a medium that is none',
		withVolume({emptyDir: {medium: 'Disk'}}),
		'spec.volumes[0].emptyDir.medium: must be Memory or left out, got "Disk"',
	],
	[
		'a size that is none',
		withVolume({emptyDir: {sizeLimit: 'big'}}),
		'spec.volumes[0].emptyDir.sizeLimit: must be a quantity such as "128Mi" or 134217728, got "big"',
	],
	[
		'a mode that was meant in octal',
		withVolume({configMap: {name: 'c', defaultMode: 644}}),
		'spec.volumes[0].configMap.defaultMode: must be a file mode from 0 to 0777, got 644; write 0644 without quotes, which is 420 in JSON',
	],
	[
		'a mode in quotes',
		withVolume({configMap: {name: 'c', defaultMode: '0400'}}),
		'spec.volumes[0].configMap.defaultMode: must be a file mode from 0 to 0777, got "0400"; write 0400 without quotes, which is 256 in JSON',
	],
	[
		'files that lie elsewhere',
		withVolume({
			configMap: {
				name: 'c',
				items: [
					{key: 'a', path: '../a'},
					{key: 'b', path: '/b'},
					{key: 'c', path: 'x'},
					{key: 'd', path: 'x'},
				],
			},
		}),
		'spec.volumes[0].configMap.items[0].path: must not contain "..", got "../a"',
		'spec.volumes[0].configMap.items[1].path: must be a relative path, not beginning with "/", got "/b"',
		'spec.volumes[0].configMap.items[3].path: "x" is the file of spec.volumes[0].configMap.items[2] already',
	],
	['a secret without its name', withVolume({secret: {}}), 'spec.volumes[0].secret.secretName: is required'],
	[
		'two volumes of one name',
		{
			...aPod(),
			spec: {
				containers: [aContainer()],
				volumes: [
					{name: 'v', emptyDir: {}},
					{name: 'v', emptyDir: {}},
				],
			},
		},
		'spec.volumes[1].name: there is a volume "v" already',
	],
	[
		'a mount of no volume',
		mounted({name: 'date', mountPath: '/a'}),
		`${inContainer}.volumeMounts[0].name: there is no volume "date" in the pod; did you mean "data"?`,
	],
	[
		'a mount of two places in one',
		mounted({mountPath: '/a'}, {mountPath: '/a/'}),
		`${inContainer}.volumeMounts[1].mountPath: something is mounted at "/a" already, by ${inContainer}.volumeMounts[0]`,
	],
	[
		'a mount at a relative path',
		mounted({mountPath: 'a'}),
		`${inContainer}.volumeMounts[0].mountPath: must be an absolute path, beginning with "/", got "a"`,
	],
	[
		'a mount over everything',
		mounted({mountPath: '/'}),
		`${inContainer}.volumeMounts[0].mountPath: must not be the root: programs and their libraries are there`,
	],
	['a mount with a colon', mounted({mountPath: '/a:b'}), `${inContainer}.volumeMounts[0].mountPath: must not contain ":", got "/a:b"`],
	[
		'a part of a volume that is outside of it',
		mounted({mountPath: '/a', subPath: 'b/../../c'}),
		`${inContainer}.volumeMounts[0].subPath: must not contain "..", got "b/../../c"`,
	],
	[
		'an init container with a probe and a taken name',
		{
			...aPod(),
			spec: {initContainers: [{...aContainer(), readinessProbe: {tcpSocket: {port: 1}}, lifecycle: {}}], containers: [aContainer()]},
		},
		'spec.initContainers[0].readinessProbe: must not be set in an init container',
		'spec.initContainers[0].lifecycle: must not be set in an init container',
		'spec.initContainers[0].name: there is a container "main" already',
	],
	[
		'a restartPolicy of a container, and another one than that of sidecars',
		{
			...aPod(),
			spec: {
				initContainers: [{...aContainer({name: 'one'}), restartPolicy: 'Never'}],
				containers: [{...aContainer(), restartPolicy: 'Always'}],
			},
		},
		'spec.initContainers[0].restartPolicy: must be one of Always, got "Never"',
		'spec.containers[0].restartPolicy: may only be set for init containers; of the others the restartPolicy of the pod says it',
	],
	[
		'another place for the last words',
		aPodWith({terminationMessagePath: '/tmp/x'}),
		`${inContainer}.terminationMessagePath: "/tmp/x" is not supported yet; "/dev/termination-log" is`,
	],
	[
		'resources that no node gives',
		aPodWith({resources: {requests: {'ephemeral-storage': '1Gi'}, limits: {'hugepages-2Mi': '4Mi', 'example.com/gpu': 1}}}),
		`${inContainer}.resources.limits.hugepages-2Mi: the resource "hugepages-2Mi" is not supported yet; cpu, memory and nvidia.com/gpu are`,
		`${inContainer}.resources.limits["example.com/gpu"]: the resource "example.com/gpu" is not supported yet; cpu, memory and nvidia.com/gpu are`,
		`${inContainer}.resources.requests.ephemeral-storage: the resource "ephemeral-storage" is not supported yet; cpu, memory and nvidia.com/gpu are`,
	],
	[
		'GPUs that are no whole number, none, and more than a limit',
		{
			...aPod(),
			spec: {
				initContainers: [{...aContainer({name: 'half'}), resources: {limits: {'nvidia.com/gpu': 0.5}}}],
				containers: [
					{...aContainer({name: 'negative'}), resources: {limits: {'nvidia.com/gpu': '-1'}}},
					{...aContainer({name: 'unlimited'}), resources: {requests: {'nvidia.com/gpu': 1}}},
					{...aContainer({name: 'shared'}), resources: {requests: {'nvidia.com/gpu': 1}, limits: {'nvidia.com/gpu': 2}}},
				],
			},
		},
		'spec.initContainers[0].resources.limits["nvidia.com/gpu"]: must be a whole number such as 1, got "0.5"',
		'spec.containers[0].resources.limits["nvidia.com/gpu"]: must not be negative, got "-1"',
		'spec.containers[1].resources.requests["nvidia.com/gpu"]: must have a limit of the same number: devices are not shared',
		'spec.containers[2].resources.requests["nvidia.com/gpu"]: must be equal to the limit of "2", got "1": devices are not shared',
	],
	[
		'a resource of another container that is not there',
		aPodWith({env: [{name: 'A', valueFrom: {resourceFieldRef: {resource: 'limits.cpu', containerName: 'mian'}}}]}),
		`${inContainer}.env[0].valueFrom.resourceFieldRef.containerName: there is no container "mian" in the pod; did you mean "main"?`,
	],
	[
		'a limit that is not set',
		aPodWith({env: [{name: 'A', valueFrom: {resourceFieldRef: {resource: 'limits.memory'}}}]}),
		`${inContainer}.env[0].valueFrom.resourceFieldRef.resource: "limits.memory" of a container without that limit is not supported yet; set resources.limits.memory`,
	],
	[
		'a resource that is none, in a unit that is none',
		aPodWith({env: [{name: 'A', valueFrom: {resourceFieldRef: {resource: 'limit.memory', divisor: '3Mi'}}}]}),
		`${inContainer}.env[0].valueFrom.resourceFieldRef.resource: must be one of limits.cpu, limits.memory, requests.cpu, requests.memory, got "limit.memory"; did you mean "limits.memory"?`,
		`${inContainer}.env[0].valueFrom.resourceFieldRef.divisor: must be one of 0, 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei, got "3Mi"`,
	],
	[
		'all labels in one variable',
		aPodWith({env: [{name: 'A', valueFrom: {fieldRef: {fieldPath: 'metadata.labels'}}}]}),
		`${inContainer}.env[0].valueFrom.fieldRef.fieldPath: "metadata.labels" is not supported yet; name one entry, as in "metadata.labels['KEY']"`,
	],
	['fields in another case', aPod({Containers: []} as never), 'spec.Containers: unknown field "Containers"; did you mean "containers"?'],
	[
		'fields of the top in another case',
		{...aPod(), Spec: {}, metadata: {name: 'a', Labels: {}}},
		'metadata.Labels: unknown field "Labels"; did you mean "labels"?',
		'Spec: unknown field "Spec"; did you mean "spec"?',
	],
	[
		'numbers without sense',
		{...aPod(), spec: {containers: [aContainer()], terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 1e300, priority: 1.5}},
		'spec.terminationGracePeriodSeconds: must be a whole number from 0 to 2147483647, got -1',
		'spec.activeDeadlineSeconds: must be a whole number from 1 to 2147483647, got 1e+300',
	],
	['a deadline that is no number', aPod({activeDeadlineSeconds: NaN}), 'spec.activeDeadlineSeconds: must be a finite number, got NaN'],
	[
		'a field named constructor',
		{...aPod(), spec: {containers: [aContainer()], constructor: {}}},
		'spec.constructor: unknown field "constructor"',
	],
	[
		'a text without end, of which the beginning is shown',
		aPod({restartPolicy: 'x'.repeat(10_000) as 'Always'}),
		`spec.restartPolicy: must be one of Always, OnFailure, Never, got "${'x'.repeat(60)}…"`,
	],
	['a field whose name has no end', aPod({['y'.repeat(10_000)]: 1}), `spec.${'y'.repeat(495)}…: unknown field "${'y'.repeat(60)}…"`],
];

for (const [title, manifest, ...problems] of refused)
	test(`refuses ${title}`, t => {
		const found = problemsOf(manifest);
		for (const problem of problems) t.true(found.includes(problem), `${problem}\n  is not among\n${found.join('\n')}`);
		t.true(found.length <= Math.max(1, problems.length + (title.startsWith('numbers') ? 1 : 0)), found.join('\n'));
	});

test('probes, hooks, init containers and volumes get what Kubernetes would fill in', t => {
	const outcome = admitCreate({
		...aPod(),
		spec: {
			initContainers: [{name: 'first', image: 'node', command: ['a']}],
			containers: [{...aContainer(), livenessProbe: {httpGet: {port: 80}}, lifecycle: {preStop: {httpGet: {port: 80, path: ''}}}}],
			volumes: [
				{name: 'a', configMap: {name: 'c'}},
				{name: 'b', secret: {secretName: 's', defaultMode: 0}},
				{name: 'd', emptyDir: {}},
			],
		},
	});
	t.like(outcome, {
		ok: true,
		value: {
			spec: {
				initContainers: [{imagePullPolicy: 'Always'}],
				containers: [
					{
						livenessProbe: {
							httpGet: {port: 80, path: '/', scheme: 'HTTP'},
							timeoutSeconds: 1,
							periodSeconds: 10,
							successThreshold: 1,
							failureThreshold: 3,
						},
						lifecycle: {preStop: {httpGet: {path: '/', scheme: 'HTTP'}}},
					},
				],
				volumes: [{configMap: {defaultMode: 420}}, {secret: {defaultMode: 0}}, {emptyDir: {}}],
			},
		},
	});
});

test('a pod that was kept with fewer defaults can still be changed otherwise', t => {
	const old = committed(aPodWith({livenessProbe: {tcpSocket: {port: 1}}}));
	const spec = {...(old.spec as PodSpec), containers: [{...aContainer(), livenessProbe: {tcpSocket: {port: 1}}}]};
	const kept = {...old, spec};
	t.true(admitUpdate({...kept, metadata: {...kept.metadata, labels: {a: 'b'}}}, kept).ok);
});

test('a deadline may be set and lowered, never raised or taken back', t => {
	const change = (from: number | undefined, to: number | undefined): string => {
		const specOf = (seconds: number | undefined) => ({...aPod().spec, ...(seconds === undefined ? {} : {activeDeadlineSeconds: seconds})});
		const old = committed({...aPod(), spec: specOf(from)});
		const outcome = admitUpdate({...old, spec: specOf(to)}, old);
		return outcome.ok ? 'admitted' : outcome.error.message;
	};
	t.is(change(undefined, 30), 'admitted');
	t.is(change(30, 20), 'admitted');
	t.is(change(30, 40), 'spec.activeDeadlineSeconds: can be lowered only: it is 30, got 40');
	t.is(change(30, undefined), 'spec.activeDeadlineSeconds: can be lowered only: it is 30, got nothing');
});

const values: readonly [resource: string, divisor: string | undefined, value: string][] = [
	['limits.cpu', undefined, '2'],
	['limits.cpu', '1m', '1500'],
	['limits.memory', undefined, '134217728'],
	['limits.memory', '1Mi', '128'],
	['limits.memory', '1G', '1'],
	['requests.cpu', '0', '1'],
	['requests.memory', '1Mi', '0'],
];

for (const [resource, divisor, value] of values) {
	test(`${resource} in units of ${divisor ?? '1'} is ${value}`, t => {
		const container = {resources: {requests: {cpu: '250m'}, limits: {cpu: '1500m', memory: '128Mi'}}};
		t.is(resourceValue({resource, ...(divisor === undefined ? {} : {divisor})}, container), value);
	});
}
