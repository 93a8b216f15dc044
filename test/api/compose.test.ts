// Compose files as objects, field by field; and what cannot be said, by name.

import test from 'ava';
import fc from 'fast-check';
import {readEnvFile} from '../../api/compose/env-file.js';
import {contentsAnnotation, convert, projectLabel, serviceLabel, spelling} from '../../api/compose/convert.js';
import {interpolated, WrongVariable} from '../../api/compose/interpolate.js';
import {labelOf, pathBelow, projectOf} from '../../api/compose/names.js';
import {filesOf, isCompose, readProject} from '../../api/compose/project.js';
import {shellWords} from '../../api/compose/shell-words.js';
import {limits} from '../../api/limits.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import {converted, composeValue, part, podOfWeb, service} from './_compose.js';

test('a compose file is told by its services, and an object of Kubernetes is none', t => {
	t.true(isCompose({services: {}}));
	t.true(isCompose({version: '3', services: null}));
	for (const other of [{}, [], null, {apiVersion: 'v1', services: {}}, {kind: 'List', services: {}}]) t.false(isCompose(other));
});

test('each field of a service becomes its field of the container', t => {
	const cases: readonly (readonly [fields: string, container: JsonObject])[] = [
		['command: run --now "two words"', {args: ['run', '--now', 'two words']}],
		['command: [a, "", 3]', {args: ['a', '', '3']}],
		['entrypoint: ["/e"]\ncommand: x', {command: ['/e'], args: ['x']}],
		['entrypoint: ""\ncommand: x y', {command: ['x', 'y']}],
		['command: echo $$(date) $$HOME $$$$', {args: ['echo', '$$(date)', '$HOME', '$$$']}],
		['working_dir: /srv', {workingDir: '/srv'}],
		[
			'environment: {A: b, N: 3, T: true, F: 1.5}',
			{
				env: [
					['A', 'b'],
					['N', '3'],
					['T', 'true'],
					['F', '1.5'],
				].map(([name = '', value = '']) => ({name, value})),
			},
		],
		[
			'environment: ["A=b=c", "E=", "UNSET", "SHELL_HAS"]',
			{
				env: [
					{name: 'A', value: 'b=c'},
					{name: 'E', value: ''},
					{name: 'SHELL_HAS', value: 'it'},
				],
			},
		],
		['environment: {A: "$$(B)"}', {env: [{name: 'A', value: '$$(B)'}]}],
		['ports: ["8080:80"]', {ports: [{containerPort: 80, hostPort: 8080}]}],
		['ports: [80]', {ports: [{containerPort: 80}]}],
		['ports: ["127.0.0.1:53:5353/udp"]', {ports: [{containerPort: 5353, protocol: 'UDP', hostPort: 53, hostIP: '127.0.0.1'}]}],
		['ports: ["[::1]:80:80"]', {ports: [{containerPort: 80, hostPort: 80, hostIP: '::1'}]}],
		[
			'ports: ["3000-3001:4000-4001"]',
			{
				ports: [
					{containerPort: 4000, hostPort: 3000},
					{containerPort: 4001, hostPort: 3001},
				],
			},
		],
		[
			'ports: [{target: 80, published: "8080", protocol: udp, mode: host, host_ip: 10.0.0.1}]',
			{ports: [{containerPort: 80, protocol: 'UDP', hostPort: 8080, hostIP: '10.0.0.1'}]},
		],
		['expose: ["80", 81, 53/udp]', {ports: [{containerPort: 80}, {containerPort: 81}, {containerPort: 53, protocol: 'UDP'}]}],
		['network_mode: host\nports: ["8080:80"]', {ports: [{containerPort: 80}]}],
		[
			'mem_limit: 1g\nmem_reservation: 512mb\ncpus: 1.5\ncpu_shares: 512',
			{resources: {requests: {cpu: '500m', memory: '512Mi'}, limits: {cpu: '1500m', memory: '1Gi'}}},
		],
		['cpu_quota: 50000\ncpu_period: 100ms', {resources: {limits: {cpu: '500m'}}}],
		[
			'deploy: {resources: {limits: {cpus: "0.1", memory: 100000}, reservations: {memory: 1k}}}',
			{resources: {requests: {memory: '1Ki'}, limits: {cpu: '100m', memory: '100000'}}},
		],
		['user: "1000:100"', {securityContext: {runAsUser: 1000, runAsGroup: 100}}],
		['user: root', {securityContext: {runAsUser: 0}}],
		['privileged: "yes"\nread_only: true', {securityContext: {privileged: true, readOnlyRootFilesystem: true}}],
		['cap_add: [NET_ADMIN]\ncap_drop: [CAP_CHOWN, all]', {securityContext: {capabilities: {add: ['NET_ADMIN'], drop: ['CHOWN', 'ALL']}}}],
		[
			'security_opt: ["no-new-privileges=true", "seccomp:unconfined"]',
			{securityContext: {allowPrivilegeEscalation: false, seccompProfile: {type: 'Unconfined'}}},
		],
		['stdin_open: true\ntty: true', {stdin: true, tty: true}],
		['pull_policy: missing', {imagePullPolicy: 'IfNotPresent'}],
		['build: .', {imagePullPolicy: 'IfNotPresent'}],
		[
			'healthcheck: {test: a b}',
			{readinessProbe: {exec: {command: ['/bin/sh', '-c', 'a b']}, periodSeconds: 30, timeoutSeconds: 30, failureThreshold: 3}},
		],
		[
			'healthcheck: {test: [CMD, a, b], interval: 1m30s, timeout: 10s, retries: 5, start_period: 40s}',
			{readinessProbe: {exec: {command: ['a', 'b']}, periodSeconds: 90, timeoutSeconds: 10, failureThreshold: 5}},
		],
		[
			'healthcheck: {test: [CMD-SHELL, a], interval: 500ms}',
			{readinessProbe: {exec: {command: ['/bin/sh', '-c', 'a']}, periodSeconds: 1, timeoutSeconds: 30, failureThreshold: 3}},
		],
		['healthcheck: {disable: true}', {}],
		['healthcheck: {test: [NONE]}', {}],
		['x-own: {anything: 1}\nprofiles: []\nattach: false', {}],
	];
	for (const [fields, expected] of cases) {
		const {container, problems} = podOfWeb(service(fields), {environment: {SHELL_HAS: 'it'}});
		t.deepEqual(problems, [], fields);
		t.deepEqual(container, {name: 'web', image: 'web', imagePullPolicy: 'IfNotPresent', ...expected}, fields);
	}
});

test('each field of a service becomes its field of the pod', t => {
	const cases: readonly (readonly [fields: string, pod: JsonObject])[] = [
		['stop_grace_period: 1m', {terminationGracePeriodSeconds: 60}],
		['hostname: me', {hostname: 'me'}],
		['init: true', {shareProcessNamespace: true}],
		['network_mode: host\npid: host\nipc: host', {hostNetwork: true, hostPID: true, hostIPC: true}],
		[
			'extra_hosts: ["a:10.0.0.1", "b=10.0.0.1", "c:::1"]',
			{
				hostAliases: [
					{ip: '10.0.0.1', hostnames: ['a', 'b']},
					{ip: '::1', hostnames: ['c']},
				],
			},
		],
		['extra_hosts: {a: 10.0.0.1}', {hostAliases: [{ip: '10.0.0.1', hostnames: ['a']}]}],
		['group_add: [5, "6"]', {securityContext: {supplementalGroups: [5, 6]}}],
		['platform: linux/arm64', {nodeSelector: {'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64'}}],
		[
			'deploy: {placement: {constraints: ["node.labels.disk==ssd", "node.hostname == a"]}}',
			{nodeSelector: {disk: 'ssd', 'kubernetes.io/hostname': 'a'}},
		],
		['container_name: My_Name', {containers: [{name: 'my-name', image: 'web', imagePullPolicy: 'IfNotPresent'}]}],
	];
	for (const [fields, expected] of cases) {
		const {pod, problems} = podOfWeb(service(fields));
		t.deepEqual(problems, [], fields);
		const usual = {
			runtimeClassName: 'docker',
			terminationGracePeriodSeconds: 10,
			containers: [{name: 'web', image: 'web', imagePullPolicy: 'IfNotPresent'}],
		};
		t.deepEqual(pod, {...usual, ...expected}, fields);
	}
});

test('mounts of every sort, short and long', t => {
	const sections =
		'\nvolumes: {data: , kept: {external: true, name: Old_Data}}\nconfigs: {conf: {content: "a"}}\nsecrets: {pw: {environment: PW}}\n';
	const cases: readonly (readonly [fields: string, volume: JsonObject, mount: JsonObject])[] = [
		['volumes: ["data:/d"]', {name: 'data', persistentVolumeClaim: {claimName: 'data'}}, {name: 'data', mountPath: '/d'}],
		[
			'volumes: ["data:/d:ro,z"]',
			{name: 'data', persistentVolumeClaim: {claimName: 'data'}},
			{name: 'data', mountPath: '/d', readOnly: true},
		],
		['volumes: ["kept:/d"]', {name: 'old-data', persistentVolumeClaim: {claimName: 'old-data'}}, {name: 'old-data', mountPath: '/d'}],
		['volumes: ["/d/"]', {name: 'anonymous-0', emptyDir: {}}, {name: 'anonymous-0', mountPath: '/d'}],
		['volumes: ["./a/../b:/d"]', {name: 'bind-0', hostPath: {path: '/srv/shop/b'}}, {name: 'bind-0', mountPath: '/d'}],
		['volumes: ["~/b:/d"]', {name: 'bind-0', hostPath: {path: '/home/me/b'}}, {name: 'bind-0', mountPath: '/d'}],
		[
			'volumes: ["../gone:/d"]',
			{name: 'bind-0', hostPath: {path: '/srv/gone', type: 'DirectoryOrCreate'}},
			{name: 'bind-0', mountPath: '/d'},
		],
		[
			'volumes: [{type: bind, source: ../gone, target: /d, read_only: true}]',
			{name: 'bind-0', hostPath: {path: '/srv/gone'}},
			{name: 'bind-0', mountPath: '/d', readOnly: true},
		],
		[
			'volumes: [{type: volume, source: data, target: /d, volume: {nocopy: true, subpath: x}}]',
			{name: 'data', persistentVolumeClaim: {claimName: 'data'}},
			{name: 'data', mountPath: '/d', subPath: 'x'},
		],
		['volumes: [{type: volume, target: /d}]', {name: 'anonymous-0', emptyDir: {}}, {name: 'anonymous-0', mountPath: '/d'}],
		[
			'volumes: [{type: tmpfs, target: /d, tmpfs: {size: 1048576}}]',
			{name: 'tmpfs-of-volumes-0', emptyDir: {medium: 'Memory', sizeLimit: '1Mi'}},
			{name: 'tmpfs-of-volumes-0', mountPath: '/d'},
		],
		['tmpfs: /run:size=64m', {name: 'tmpfs-0', emptyDir: {medium: 'Memory', sizeLimit: '64Mi'}}, {name: 'tmpfs-0', mountPath: '/run'}],
		['shm_size: 1gb', {name: 'shm', emptyDir: {medium: 'Memory', sizeLimit: '1Gi'}}, {name: 'shm', mountPath: '/dev/shm'}],
		[
			'configs: [conf]',
			{name: 'config-0', configMap: {name: 'conf', items: [{key: 'conf', path: 'conf'}]}},
			{name: 'config-0', mountPath: '/conf', subPath: 'conf', readOnly: true},
		],
		[
			'secrets: [{source: pw, target: p, mode: 0400, uid: "0"}]',
			{name: 'secret-0', secret: {secretName: 'pw', items: [{key: 'pw', path: 'pw', mode: 0o400}]}},
			{name: 'secret-0', mountPath: '/run/secrets/p', subPath: 'pw', readOnly: true},
		],
	];
	for (const [fields, volume, mount] of cases) {
		const {pod, container, problems} = podOfWeb(service(fields, sections), {
			environment: {HOME: '/home/me', PW: 'x'},
			missing: ['/srv/gone'],
		});
		t.deepEqual(problems, [], fields);
		t.deepEqual([pod['volumes'], container['volumeMounts']], [[volume], [mount]], fields);
	}
	const twice = podOfWeb(service('volumes: ["data:/a", "data:/b"]', sections));
	t.deepEqual(twice.pod['volumes'], [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}]);
});

test('what runs a service: a Deployment, a StatefulSet, a DaemonSet or a Job', t => {
	const more = '\n  other: {image: x, volumes: ["both:/b"]}\nvolumes: {own: , both: }\n';
	const cases: readonly (readonly [fields: string, kind: string, spec: JsonObject])[] = [
		['', 'Deployment', {replicas: 1}],
		['restart: always\nscale: 3', 'Deployment', {replicas: 3}],
		['ports: ["80:80"]', 'Deployment', {strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}}],
		['volumes: ["both:/b"]', 'Deployment', {strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}}],
		['volumes: ["own:/b"]', 'StatefulSet', {replicas: 1, serviceName: 'web'}],
		['volumes: ["own:/b"]\nrestart: "no"', 'Job', {backoffLimit: 0}],
		['restart: on-failure', 'Job', {backoffLimit: 2_147_483_647}],
		['restart: on-failure:4\nscale: 2', 'Job', {backoffLimit: 4, parallelism: 2, completions: 2}],
		['deploy: {mode: global}', 'DaemonSet', {template: {spec: {runtimeClassName: 'docker'}}}],
		['deploy: {mode: replicated-job, replicas: 2}', 'Job', {completions: 2}],
		['restart: always\ndeploy: {restart_policy: {condition: none}}', 'Job', {backoffLimit: 0}],
		[
			'deploy: {update_config: {parallelism: 2, order: start-first}}',
			'Deployment',
			{strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}},
		],
		[
			'deploy: {update_config: {parallelism: 0}}',
			'Deployment',
			{strategy: {type: 'RollingUpdate', rollingUpdate: {maxSurge: 0, maxUnavailable: '100%'}}},
		],
	];
	for (const [fields, kind, spec] of cases) {
		const {named, problems} = converted(service(fields, more));
		t.deepEqual(problems, [], fields);
		t.like(part(named(kind), 'spec'), spec, fields);
	}
	const {objects} = converted(service('restart: on-failure'));
	t.deepEqual(part(objects.at(-1), 'spec', 'template', 'spec')['restartPolicy'], 'OnFailure');
});

test('depends_on and links become an annotation; what is awaited to its end is a Job', t => {
	const yaml = `services:
  web: {image: w, depends_on: {db: {condition: service_healthy}, init: {condition: service_completed_successfully}, gone: {required: false}}, links: ["cache:store"]}
  db: {image: d, volumes: ["data:/d"], healthcheck: {test: x}}
  cache: {image: c}
  init: {image: i}
volumes: {data: }
`;
	const {named, problems, objects} = converted(yaml);
	t.deepEqual(problems, []);
	t.is(
		part(named('Deployment'), 'spec', 'template', 'metadata', 'annotations')['troupe.dev/depends-on'],
		'statefulset/db,job/init,deployment/cache',
	);
	t.truthy(named('Job', 'init'));
	t.deepEqual(
		objects.filter(({kind}) => kind === 'Service').map(each => part(each, 'metadata')['name']),
		['web', 'db', 'cache', 'store', 'init'],
	);
});

test('Services have the ports of the container; a service without any is found all the same', t => {
	const {named} = converted(service('ports: ["8080:80", "81"]\nexpose: [80, 53/udp]'));
	t.deepEqual(part(named('Service'), 'spec')['ports'], [
		{name: 'tcp-80', port: 80},
		{name: 'tcp-81', port: 81},
		{name: 'udp-53', port: 53, protocol: 'UDP'},
	]);
	t.deepEqual(part(converted(service('')).named('Service'), 'spec'), {
		clusterIP: 'None',
		selector: {[projectLabel]: 'shop', [serviceLabel]: 'web'},
	});
});

test('volumes, configs and secrets become claims, ConfigMaps and Secrets', t => {
	const yaml = service(
		'configs: [a, b]\nsecrets: [s, t]\nvolumes: ["My_Data:/d"]',
		'\nconfigs: {a: {file: ./a.txt}, b: {external: true}, unused: {file: ./none}}\nsecrets: {s: {file: /s}, t: {environment: T, labels: {k: v}}}\nvolumes: {My_Data: {labels: ["k=v"]}, old: {external: {name: x}}}\n',
	);
	const {objects, problems, notes} = converted(yaml, {environment: {T: 'ü'}, files: {'/srv/shop/a.txt': 'text\n', '/s': 's\xff'}});
	t.deepEqual(problems, []);
	const labels = {[projectLabel]: 'shop'};
	const claim = {accessModes: ['ReadWriteOnce'], storageClassName: 'local', resources: {requests: {storage: '10Gi'}}};
	t.deepEqual(objects.slice(0, 4), [
		{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'my-data', labels: {k: 'v', ...labels}}, spec: claim},
		{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a', labels}, data: {a: 'text\n'}},
		{apiVersion: 'v1', kind: 'Secret', metadata: {name: 's', labels}, type: 'Opaque', data: {s: Buffer.from('s\xff').toString('base64')}},
		{
			apiVersion: 'v1',
			kind: 'Secret',
			metadata: {name: 't', labels: {k: 'v', ...labels}},
			type: 'Opaque',
			data: {t: Buffer.from('ü').toString('base64')},
		},
	]);
	t.deepEqual(notes, ['volumes.My_Data: is called my-data: names of objects are DNS labels']);
});

test('other contents of configs and secrets are another pod template, but for a Job and for those that name none', t => {
	const yaml = `services:
  web: {image: web, configs: [a], secrets: [{source: s}]}
  other: {image: web, configs: [b]}
  none: {image: web}
  job: {image: web, restart: "no", configs: [a]}
configs: {a: {environment: A}, b: {environment: B}, outer: {external: true}}
secrets: {s: {environment: S}}
`;
	const contents = (environment: Readonly<Record<string, string>>): readonly unknown[] => {
		const {named, problems} = converted(yaml, {environment: {A: 'a', B: 'b', S: 's', ...environment}});
		t.deepEqual(problems, []);
		const of = (kind: string, name: string): unknown =>
			part(named(kind, name), 'spec', 'template', 'metadata', 'annotations')[contentsAnnotation];
		return [of('Deployment', 'web'), of('Deployment', 'other'), of('Deployment', 'none'), of('Job', 'job')];
	};
	const [web, other, ...without] = contents({});
	t.is(typeof web, 'string');
	t.deepEqual(without, [undefined, undefined]);
	t.deepEqual(contents({}), [web, other, ...without], 'the same contents are the same');
	t.deepEqual(contents({B: 'changed'}).slice(0, 1), [web]);
	for (const environment of [{A: 'changed'}, {S: 'changed'}]) {
		const [changed, same] = contents(environment);
		t.not(changed, web);
		t.is(same, other);
	}
});

test('labels are labels where they can be, else annotations', t => {
	const {named} = converted(service('labels: {a: b, c: "d e"}\nannotations: {f: g}\ndeploy: {labels: {h: i}}'));
	const own = {[projectLabel]: 'shop', [serviceLabel]: 'web'};
	t.deepEqual(part(named('Deployment'), 'spec', 'template', 'metadata'), {labels: {a: 'b', ...own}, annotations: {c: 'd e', f: 'g'}});
	t.deepEqual(part(named('Deployment'), 'metadata'), {name: 'web', labels: {h: 'i', ...own}});
});

test('profiles leave services out, and say so', t => {
	const yaml = 'services: {web: {image: a}, debug: {image: b, profiles: [dev, more]}}';
	const kept = (profiles: readonly string[], environment = {}) => converted(yaml, {profiles, environment});
	t.is(kept([]).named('Deployment', 'debug'), undefined);
	t.deepEqual(kept([]).notes, ['services: left out, for their profiles are not asked for: debug']);
	for (const given of [kept(['dev']), kept(['*']), kept([], {COMPOSE_PROFILES: 'x, more'})]) t.truthy(given.named('Deployment', 'debug'));
});

test('extends joins what docker-compose joins, and replaces the rest', t => {
	const yaml = `services:
  base: {image: base, command: a, environment: [A=1, B=2], ports: ["80:80"], labels: {x: y}, volumes: ["/a:/v", "/b:/w"], deploy: {replicas: 2, labels: {k: v}}}
  mid: {extends: base, image: mid}
  web: {extends: {service: mid}, command: b, environment: {B: 3}, ports: ["81:81"], volumes: ["/c:/v"], deploy: {replicas: 3}}
`;
	const {container, problems} = podOfWeb(yaml);
	t.deepEqual(problems, []);
	t.like(container, {
		image: 'mid',
		args: ['b'],
		env: [
			{name: 'A', value: '1'},
			{name: 'B', value: '3'},
		],
		ports: [
			{containerPort: 80, hostPort: 80},
			{containerPort: 81, hostPort: 81},
		],
	});
	t.deepEqual(
		(container['volumeMounts'] as readonly JsonObject[]).map(({mountPath}) => mountPath),
		['/v', '/w'],
	);
	t.like(part(converted(yaml).named('Deployment'), 'spec'), {replicas: 3});
});

test('variables of files come first, in order; those of the file itself last', t => {
	const files = {'/srv/shop/a.env': 'A=1\nB=${A}2\nexport C="x y" # no\nSHELL', '/srv/shop/b.env': "A='$N'\n"};
	const yaml = service('env_file: [a.env, {path: ./b.env}, {path: none.env, required: false}]\nenvironment: {D: $N}');
	const {container, problems} = podOfWeb(yaml, {files, environment: {N: 'n', SHELL: 'sh'}});
	t.deepEqual(problems, []);
	t.deepEqual(container['env'], [
		{name: 'A', value: '$N'},
		{name: 'B', value: '12'},
		{name: 'C', value: 'x y'},
		{name: 'SHELL', value: 'sh'},
		{name: 'D', value: 'n'},
	]);
	t.deepEqual(
		filesOf(readProject(composeValue(yaml), {folder: '/srv/shop', environment: {}, profiles: []})).map(({file, isOptional}) => [
			file,
			isOptional,
		]),
		[
			['/srv/shop/a.env', false],
			['/srv/shop/b.env', false],
			['/srv/shop/none.env', true],
		],
	);
});

test('variables in texts, in all their forms', t => {
	const told: string[] = [];
	const set: Readonly<Record<string, string>> = {A: 'a', E: ''};
	const variables = () => ({get: (name: string) => set[name], missing: (name: string) => void told.push(name), left: 1_000});
	const cases: readonly (readonly [text: string, value: string])[] = [
		['$A ${A} $$A $$', 'a a $A $'],
		['${U:-d} ${U-d} ${E:-d} ${E-d}|', 'd d d |'],
		['${A:+x} ${E:+x}|${E+x} ${U+x}|', 'x |x |'],
		['${U:-${A}b${E:-c}}', 'abc'],
		['${A:?no} ${U:-}|', 'a |'],
		['$A_ $A.b', ' a.b'],
	];
	for (const [text, value] of cases) t.is(interpolated(text, variables()), value, text);
	t.deepEqual(told, ['A_']);
	for (const text of ['${U:?which?}', '${U?}', '${E:?}', '$', '$1', '${', '${}', '${A', '${A!x}', '${A:b}', '${A:-${B', '${A'.repeat(50)])
		t.throws(() => interpolated(text, variables()), {instanceOf: WrongVariable}, text);
	t.throws(() => interpolated('${U:?say $A}', variables()), {message: 'needs the variable U: say a'});
	t.throws(() => interpolated('$A'.repeat(2_000), variables()), {instanceOf: WrongVariable});
});

test('files of variables are read as docker-compose reads them', t => {
	const read = (text: string) => readEnvFile(text, name => (name === 'SHELL' ? 'sh' : undefined));
	const {entries, wrongLines} = read(
		'\uFEFF# c\r\nA=1\r\n\r\nB = two words # c\nC="a\\nb" # c\nD=\'a\nb\'\nE=\nF\nG=${SHELL}${A:-x}${NO:-y}\nH=a#b\nnot this one\nI="open\n',
	);
	t.deepEqual(Object.fromEntries(entries), {A: '1', B: 'two words', C: 'a\nb', D: 'a\nb', E: '', F: undefined, G: 'sh1y', H: 'a#b'});
	t.deepEqual(wrongLines, [12, 13]);
	const doubling = Array.from({length: 40}, (_, i) => `A${i + 1}=\${A${i}}\${A${i}}`).join('\n');
	t.true(read(`A0=xxxxxxxx\n${doubling}`).isTooLarge);
});

test('words of a command, as a shell takes them apart', t => {
	const cases: readonly (readonly [text: string, words: readonly string[] | undefined])[] = [
		['a  b', ['a', 'b']],
		[`'a b'c "d e" f\\ g ''`, ['a bc', 'd e', 'f g', '']],
		[`"a \\" b" "\\n"`, ['a " b', '\\n']],
		['', []],
		[`"a`, undefined],
		['a\\', undefined],
	];
	for (const [text, words] of cases) t.deepEqual(shellWords(text), words, text);
});

test('names become DNS labels', t => {
	for (const [name, label] of [
		['My_App', 'my-app'],
		['a..b', 'a-b'],
		['1db', 'db'],
		['-x-', 'x'],
		['x'.repeat(90), 'x'.repeat(50)],
	] as const)
		t.is(labelOf(name), label);
	for (const name of ['', '--', '123', '日本']) t.is(labelOf(name), undefined);
	t.is(projectOf('My App_1'), 'myapp-1');
	t.is(projectOf('???'), 'default');
	t.is(pathBelow('/a/b', '../c/./d', undefined), '/a/c/d');
});

test('the project is called by name, the shell, or the folder', t => {
	const nameOf = (yaml: string, environment = {}) => part(converted(yaml, {environment}).objects[0], 'metadata', 'labels')[projectLabel];
	t.is(nameOf(service('')), 'shop');
	t.is(nameOf(service(''), {COMPOSE_PROJECT_NAME: 'Other'}), 'other');
	t.is(nameOf(`name: mine\n${service('')}`, {COMPOSE_PROJECT_NAME: 'Other'}), 'mine');
});

test('a circle is told from where it closes, a long one by its ends; what is harmless is no error', t => {
	const circles = converted(
		'services:\n  a: {image: x, depends_on: [b]}\n  b: {image: x, depends_on: [c]}\n  c: {image: x, depends_on: [b]}\n',
	);
	t.deepEqual(circles.problems, ['services.c.depends_on[0]: goes in a circle: b, c, b']);
	const long = Array.from({length: 30}, (_, i) => `  s${i}: {image: x, depends_on: [s${(i + 1) % 30}]}\n`).join('');
	t.deepEqual(converted(`services:\n${long}`).problems, [
		'services.s29.depends_on[0]: goes in a circle: s0, s1, s2, s3, s4, …, s26, s27, s28, s29, s0',
	]);
	const {problems, notes} = converted(service('oom_kill_disable: false\nvolumes: ["/code/node_modules"]'));
	t.deepEqual(problems, []);
	t.deepEqual(notes, ['services.web.volumes[0]: begins empty: what the image has there is not copied, as Docker would']);
});

test('what cannot be said is told by its field', t => {
	const wrong: readonly (readonly [fields: string, problem: RegExp])[] = [
		['imge: x', /^services\.web\.imge: unknown field "imge"; did you mean "image"\?$/],
		['cgroup_parent: x', /^services\.web\.cgroup_parent: cannot be said of a pod: /],
		['ulimits: {nofile: 1}', /^services\.web\.ulimits: cannot be said of a pod: /],
		['devices: [/dev/null]', /^services\.web\.devices: /],
		['dns: 1.1.1.1', /^services\.web\.dns: /],
		['network_mode: none', /^services\.web\.network_mode: must be host, or left out/],
		['network_mode: "service:db"', /^services\.web\.network_mode: /],
		['networks: [nowhere]', /^services\.web\.networks\[0\]: there is no network "nowhere" in networks$/],
		[
			'networks: {default: {ipv4_address: 10.0.0.1}}',
			/^services\.web\.networks\.default\.ipv4_address: cannot be said: addresses of pods are chosen by the cluster$/,
		],
		['env_file: [{path: a, required: false, format: raw}]', /^services\.web\.env_file\[0\]\.format: cannot be chosen: /],
		['oom_kill_disable: true', /^services\.web\.oom_kill_disable: cannot be said of a pod/],
		['user: www-data', /^services\.web\.user: must be numbers/],
		['group_add: [mail]', /^services\.web\.group_add\[0\]: must be a number/],
		['stop_signal: SIGINT', /^services\.web\.stop_signal: programs are told to stop by SIGTERM/],
		['restart: sometimes', /^services\.web\.restart: must be "no", always/],
		['ports: ["a:b"]', /^services\.web\.ports\[0\]: must be PORT/],
		['ports: ["80-81:80"]', /^services\.web\.ports\[0\]: must have as many ports/],
		['ports: ["0:80", "80:70000", "1-65535"]', /^services\.web\.ports\[0\]: [^]*ports\[1\][^]*ports\[2\]/],
		['ports: [{published: 80}]', /^services\.web\.ports\[0\]: must have a target$/],
		['expose: [x]', /^services\.web\.expose\[0\]: must be PORT/],
		['volumes: ["data:/d"]', /^services\.web\.volumes\[0\]: there is no volume "data" in volumes$/],
		['volumes: ["/a:b"]', /^services\.web\.volumes\[0\]: must be seen at an absolute path/],
		['volumes: ["/a:/b:rshared"]', /^services\.web\.volumes\[0\]: "rshared" cannot be said/],
		['volumes: ["/a:/b", "/c:/b"]', /^services\.web\.volumes\[1\]: is at "\/b", as services\.web\.volumes\[0\] is$/],
		['volumes: [{type: npipe, target: /x}]', /^services\.web\.volumes\[0\]\.type: must be volume, bind or tmpfs/],
		['tmpfs: "/run:uid=3"', /^services\.web\.tmpfs: "uid=3" cannot be said/],
		['configs: [none]', /^services\.web\.configs\[0\]: there is no "none" in configs$/],
		['mem_limit: much', /^services\.web\.mem_limit: must be an amount/],
		[
			'mem_limit: 1g\ndeploy: {resources: {limits: {memory: 2g}}}',
			/^services\.web\.mem_limit: says 1Gi, and services\.web\.deploy\.resources\.limits\.memory says 2Gi/,
		],
		['deploy: {resources: {limits: {pids: 5}}}', /^services\.web\.deploy\.resources\.limits\.pids: /],
		['deploy: {mode: strange}', /^services\.web\.deploy\.mode: must be replicated/],
		['deploy: {replicas: -1}', /^services\.web\.deploy\.replicas: must be a whole number/],
		[
			'deploy: {placement: {constraints: ["node.role == manager"]}}',
			/^services\.web\.deploy\.placement\.constraints\[0\]: must be node\.hostname/,
		],
		['healthcheck: {test: [a, b]}', /^services\.web\.healthcheck\.test: must be a text, or a list that begins/],
		['healthcheck: {interval: 5s}', /^services\.web\.healthcheck\.test: is required/],
		['healthcheck: {test: a, interval: soon}', /^services\.web\.healthcheck\.interval: must be a time/],
		['depends_on: [none]', /^services\.web\.depends_on\[0\]: there is no service "none"$/],
		['depends_on: {web: {condition: service_started}}', /^services\.web\.depends_on\.web: goes in a circle: web, web$/],
		['depends_on: {web: {condition: service_up}}', /^services\.web\.depends_on\.web\.condition: must be one of/],
		['extends: {service: a, file: b.yaml}', /^services\.web\.extends\.file: services of other files are not read/],
		['extends: web', /^services\.web\.extends: goes in a circle: web, web$/],
		['env_file: none.env', /^services\.web\.env_file: "none\.env" cannot be read: there is no such file$/],
		['environment: {"A B": c}', /^services\.web\.environment\["A B"\]: the name of a variable has no spaces/],
		['environment: {A: [b]}', /^services\.web\.environment\.A: must be a text, got a list$/],
		['environment: {A: 12345678901234567890}', /^services\.web\.environment\.A: is larger than a number can be exact; put it in quotes$/],
		['command: "a \'b"', /^services\.web\.command: has a quote that is not closed/],
		['command: ${X:?say X}', /^services\.web\.command: needs the variable X: say X$/],
		['entrypoint: []', /^services\.web\.entrypoint: is empty: then command must say what runs$/],
		['tty: perhaps', /^services\.web\.tty: must be true or false, got "perhaps"$/],
		['labels: {"a b": c}', /^services\.web\.labels\["a b"\]: must be called by/],
		['labels: {troupe.dev/compose-project: x}', /is set from the file's own names$/],
		['hostname: My.Host', /^services\.web\.hostname: must be lower-case/],
		['extra_hosts: ["a:host-gateway"]', /^services\.web\.extra_hosts\[0\]: "host-gateway" is known to one host only/],
		['platform: windows/amd64', /^services\.web\.platform: must be linux/],
		['pull_policy: daily', /^services\.web\.pull_policy: must be one of/],
	];
	for (const [fields, problem] of wrong) {
		const {problems, objects} = converted(service(fields));
		t.regex(problems.join('\n'), problem, fields);
		t.deepEqual(objects, [], fields);
	}
	const whole: readonly (readonly [yaml: string, problem: RegExp])[] = [
		['services: {}', /^services: must have at least one service$/],
		['services: []', /^services: must be a map, got a list\n/],
		['services: {web: }', /^services\.web: must be a map, got nothing$/],
		['services: {web: {}}', /^services\.web: must have an image, or say how to build one$/],
		['services: {"": {image: x}}', /^services\[""\]: no name of an object can be made of it/],
		['services: {a_b: {image: x}, a-b: {image: y}}', /^services\.a-b: is Service "a-b", as services\.a_b is\n/],
		[`version: "1"\n${service('')}`, /^version: must be 2, 3 or one of their own/],
		[`include: [x.yaml]\n${service('')}`, /^include: other files are not read/],
		[`servces: {}\n${service('')}`, /^servces: unknown field "servces"; did you mean "services"\?$/],
		[service('volumes: ["v:/v"]', '\nvolumes: {v: {driver: nfs}}'), /^volumes\.v\.driver: must be local/],
		[service('', '\nvolumes: {v: {driver_opts: {o: bind}}}'), /^volumes\.v\.driver_opts: cannot be said/],
		[service('networks: [n]', '\nnetworks: {n: {internal: true}}'), /^networks\.n\.internal: cannot be said/],
		[service('configs: [c]', '\nconfigs: {c: {}}'), /^configs\.c: must have one of file, content, environment and external$/],
		[service('secrets: [c]', '\nsecrets: {c: {file: ./none}}'), /^secrets\.c\.file: "\.\/none" cannot be read/],
		[service('secrets: [c]', '\nsecrets: {c: {environment: NONE}}'), /^secrets\.c\.environment: the variable "NONE" is not set$/],
		[
			'services: {a: {image: x, depends_on: [b]}, b: {image: y, depends_on: [a]}}',
			/^services\.b\.depends_on\[0\]: goes in a circle: a, b, a$/,
		],
		['services: {a: {image: x, depends_on: [b]}, b: {image: y, profiles: [p]}}', /^services\.a\.depends_on\[0\]: "b" is left out/],
	];
	for (const [yaml, problem] of whole) t.regex(converted(yaml).problems.join('\n'), problem, yaml);
});

test('fields of objects are told where the file has them', t => {
	const project = readProject(composeValue(service('ports: ["8080:80"]\nenvironment: {A: b}')), {
		folder: '/srv/shop',
		environment: {},
		profiles: [],
	});
	const workload = convert(project, {files: new Map(), missing: new Set(), digestOf: text => text}).composed.at(-1);
	const from = (path: string) => (workload === undefined ? '' : spelling(workload, path));
	t.is(from('spec.template.spec.containers[0].env[0].value'), 'services.web.environment.A');
	t.is(from('spec.template.spec.containers[0].ports[0].hostPort'), 'services.web.ports[0]');
	t.is(from('spec.template.spec.containers[0].image'), 'services.web.image');
	t.is(from('spec.selector'), 'services.web');
});

test('what is large, deep or repeated is bounded', t => {
	const many = Object.fromEntries(Array.from({length: limits.composeServices + 1}, (_, i) => [`s${i}`, {image: 'x'}]));
	const problemsOf = (document: JsonObject) =>
		convert(readProject(document, {folder: '/', environment: {BIG: 'x'.repeat(1_000_000)}, profiles: []}), {
			files: new Map(),
			missing: new Set(),
			digestOf: text => text,
		}).problems;
	t.regex(problemsOf({services: many})[0]?.message ?? '', /^has 501 services; at most 500/);
	t.regex(problemsOf({services: {a: {image: 'x', command: '$BIG'.repeat(100)}}})[0]?.message ?? '', /^is too large with its variables/);
	const heavy = 'x'.repeat(20_000);
	const chain = Object.fromEntries(
		Array.from({length: 400}, (_, i) => [
			`s${i}`,
			{image: 'x', environment: {[`V${i}`]: heavy}, ...(i === 0 ? {} : {extends: `s${i - 1}`})},
		]),
	);
	t.true(problemsOf({services: chain}).some(({message}) => message.startsWith('makes the file too large')));
	t.true(problemsOf({services: {a: {image: 'x', imge: 1, ports: Array.from({length: 5_000}, () => 'x')}}}).length <= limits.problemsShown);
});

const fieldNames = [
	...[
		'build',
		'cap_add',
		'command',
		'configs',
		'container_name',
		'cpus',
		'depends_on',
		'deploy',
		'entrypoint',
		'env_file',
		'environment',
		'expose',
	],
	...[
		'extends',
		'extra_hosts',
		'group_add',
		'healthcheck',
		'hostname',
		'image',
		'init',
		'labels',
		'links',
		'mem_limit',
		'network_mode',
		'networks',
	],
	...[
		'pid',
		'platform',
		'ports',
		'privileged',
		'profiles',
		'restart',
		'secrets',
		'security_opt',
		'shm_size',
		'stop_grace_period',
		'tmpfs',
		'user',
		'volumes',
	],
];
const words = fc.constantFrom(
	'web',
	'db',
	'data',
	'80:80',
	'80-90:80-90',
	'./a:/b:ro',
	'A=b',
	'$A',
	'${A:-$B}',
	'1g',
	'5s',
	'a:b:c:d',
	"'",
	'/x',
	'',
	'__proto__',
	'constructor',
);
const keys = fc.oneof(
	words,
	fc.constantFrom('source', 'target', 'test', 'condition', 'service', 'file', 'replicas', 'resources', 'limits', 'memory'),
);

const {value} = fc.letrec<{value: Json}>(tie => ({
	value: fc.oneof(
		{maxDepth: 4},
		words,
		fc.integer(),
		fc.double(),
		fc.boolean(),
		fc.constant(null),
		fc.array(tie('value'), {maxLength: 3}),
		fc.dictionary(keys, tie('value'), {maxKeys: 3}),
	),
}));
const anyService = fc.dictionary(fc.constantFrom(...fieldNames), value, {maxKeys: 6});
const sections = fc.record(
	{
		services: fc.oneof(fc.dictionary(keys, fc.oneof(anyService, value), {maxKeys: 4}), value),
		volumes: value,
		networks: value,
		configs: value,
		secrets: value,
		name: value,
		version: value,
	},
	{requiredKeys: ['services']},
);

test('no file makes the conversion throw: there are objects, or problems with a field', t => {
	t.notThrows(() =>
		fc.assert(
			fc.property(sections, document => {
				const project = readProject(document, {folder: '/srv/x', environment: {A: 'a'}, profiles: []});
				filesOf(project);
				const {composed, problems} = convert(project, {files: new Map(), missing: new Set(), digestOf: text => text});
				if (problems.length > 0) return composed.length === 0 && problems.every(({message}) => message !== '');
				return composed.every(({object}) => isObject(object['metadata']) && typeof object['metadata']['name'] === 'string');
			}),
			{numRuns: 3_000},
		),
	);
	t.notThrows(() => fc.assert(fc.property(fc.string(), text => Array.isArray(readEnvFile(text, () => undefined).entries))));
	t.notThrows(() => fc.assert(fc.property(fc.string(), text => (shellWords(text) ?? []).join('').length <= text.length)));
});
