// The examples of compose files, field by field: what `troupe convert` makes of them is what docker-compose makes of them.

import {execFileSync, spawnSync} from 'node:child_process';
import {readdirSync} from 'node:fs';
import path from 'node:path';
import {parse} from 'yaml';
import {shellWords} from '../../api/compose/shell-words.js';
import {memoryBytes, cpuMillis} from '../../api/quantity.js';
import {line} from '../../bench/rigs/command-line.js';
import {needing} from '../_needing.js';
import {folder} from '../cli/_rig.js';

const examples = path.resolve(import.meta.dirname, '../../../examples/compose');
const has = spawnSync('docker-compose', ['version', '--short']).status === 0;

type Members = Readonly<Record<string, unknown>>;
const members = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});
const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : []);
const said = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'));
const texts = (value: unknown): readonly string[] => items(value).map(said);

/** What a service is, in words that both sides have. */
type View = {
	readonly image: unknown;
	readonly program: readonly string[];
	readonly environment: readonly string[];
	readonly ports: readonly string[];
	readonly mounts: readonly string[];
	readonly hosts: readonly string[];
	readonly check: unknown;
	readonly resources: unknown;
	readonly flags: unknown;
	readonly labels: readonly string[];
	readonly waitsFor: readonly string[];
	readonly replicas: unknown;
	readonly again: string;
};

needing(has, 'needs docker-compose')('each example has the services that docker-compose sees in it, field by field', async t => {
	const home = await folder(t);
	const names = readdirSync(examples).sort();
	t.is(names.length, 10);
	for (const name of names) {
		const dir = path.join(examples, name);
		const file = path.join(dir, readdirSync(dir).find(each => each.endsWith('compose.yaml') || each.endsWith('compose.yml')) ?? '');
		const said = execFileSync('docker-compose', ['-f', file, 'config'], {env: {PATH: process.env['PATH'], HOME: home}, stdio: 'pipe'});
		const theirs = members(dollars(parse(said.toString())));
		const {code, out, err} = await line(['convert', '-f', file, '-o', 'json', '--profile', '*'], {home});
		t.is(code, 0, err);
		const objects = items(members(JSON.parse(out))['items']).map(members);
		const services = Object.entries(members(theirs['services']));
		for (const [service, fields] of services) {
			const label = service.toLowerCase().replaceAll('_', '-');
			const workload = objects.find(each => members(each['metadata'])['name'] === label && 'template' in members(each['spec']));
			t.deepEqual(ours(members(workload)), theirView(members(fields), theirs, services), `${name}: ${service}`);
		}
		t.is(objects.filter(each => 'template' in members(each['spec'])).length, services.length, name);
		const kept = objects.filter(({kind}) => kind === 'PersistentVolumeClaim' || kind === 'ConfigMap' || kind === 'Secret').length;
		t.is(
			kept,
			['volumes', 'configs', 'secrets'].reduce((sum, section) => sum + Object.keys(members(theirs[section])).length, 0),
			name,
		);
	}
});

/** `config` writes a dollar as two. */
function dollars(value: unknown): unknown {
	if (typeof value === 'string') return value.replaceAll('$$', '$');
	if (Array.isArray(value)) return value.map(dollars);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, dollars(member)]));
}

const wordsOf = (value: unknown): readonly string[] => (typeof value === 'string' ? (shellWords(value) ?? []) : texts(value));
const bytesOf = (value: unknown): number | undefined =>
	value === undefined ? undefined : memoryBytes(said(value).replace(/[kmg]b?$/i, unit => `${unit.charAt(0).toUpperCase()}i`));
const millisOf = (value: unknown): number | undefined => (value === undefined ? undefined : cpuMillis(said(value)));
const secondsOf = (value: unknown, usual: number): number => {
	const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(said(value)) ?? [];
	return value === undefined ? usual : Number(minutes) * 60 + Number(seconds);
};

function theirView(service: Members, file: Members, all: readonly (readonly [string, unknown])[]): View {
	const deploy = members(service['deploy']);
	const {limits, reservations} = members(deploy['resources']);
	const [most, least] = [members(limits), members(reservations)];
	const policy = members(deploy['restart_policy'])['condition'];
	const check = members(service['healthcheck']);
	const awaited = Object.keys(members(service['depends_on']));
	const links = texts(service['links']).map(link => link.split(':')[0] ?? '');
	const labels = Object.entries(members(service['labels'])).map(([key, value]) => `${key}=${said(value)}`);
	return {
		image: service['image'],
		program: [...wordsOf(service['entrypoint']), ...wordsOf(service['command'])],
		environment: Object.entries(members(service['environment']))
			.filter(([, value]) => value !== null)
			.map(([key, value]) => `${key}=${said(value)}`)
			.sort(),
		ports: [...items(service['ports']).map(theirPort), ...texts(service['expose']).map(port => `${port}/tcp`)].sort(),
		mounts: [
			...items(service['volumes']).map(each => theirMount(each, members(file['volumes']))),
			...texts(service['tmpfs']).map(target => `memory ${target}`),
			...(service['shm_size'] === undefined ? [] : ['memory /dev/shm']),
			...items(service['configs']).map(
				each => `config ${said(members(each)['source'])} ${said(members(each)['target'])} ${said(members(each)['mode'])}`,
			),
			...items(service['secrets']).map(
				each =>
					`secret ${said(members(each)['source'])} /run/secrets/${said(members(each)['target'] ?? members(each)['source'])} ${said(members(each)['mode'])}`,
			),
		].sort(),
		hosts: texts(service['extra_hosts']).slice().sort(),
		check:
			service['healthcheck'] === undefined
				? undefined
				: {
						words:
							typeof check['test'] === 'string' ? ['/bin/sh', '-c', check['test']] : ['/bin/sh', '-c', ...texts(check['test']).slice(1)],
						seconds: [secondsOf(check['interval'], 30), secondsOf(check['timeout'], 30)],
						retries: check['retries'] ?? 3,
					},
		resources: {
			limits: [millisOf(most['cpus'] ?? service['cpus']), bytesOf(most['memory'] ?? service['mem_limit'])],
			requests: [millisOf(least['cpus']), bytesOf(least['memory'] ?? service['mem_reservation'])],
		},
		flags: {
			user: service['user'],
			dir: service['working_dir'],
			host: service['hostname'],
			grace: secondsOf(service['stop_grace_period'], 10),
			on: ['tty', 'stdin_open', 'init', 'privileged', 'read_only'].filter(flag => service[flag] === true),
			add: texts(service['cap_add']),
			drop: texts(service['cap_drop']),
			onHost: service['network_mode'] === 'host',
			options: texts(service['security_opt']),
			nodes: texts(members(deploy['placement'])['constraints']),
		},
		labels: labels.sort(),
		waitsFor: [...new Set([...awaited, ...links])].filter(name => all.some(([each]) => each === name)).sort(),
		replicas: deploy['mode'] === 'global' ? 'each node' : (deploy['replicas'] ?? 1),
		again: said(service['restart'] ?? (policy === undefined || policy === 'any' ? 'always' : policy))
			.replace('unless-stopped', 'always')
			.replace(/^on-failure.*/, 'on-failure'),
	};
}

function theirPort(port: unknown): string {
	if (typeof port === 'string') {
		const [, ip, host, container, protocol] = /^([\d.]+):(\d+):(\d+)\/(\w+)$/.exec(port) ?? [];
		return `${container}/${protocol} on ${ip}:${host}`;
	}
	const {target, published, protocol = 'tcp'} = members(port);
	return `${said(target)}/${said(protocol)} on ${said(published)}`;
}

function theirMount(mount: unknown, volumes: Members): string {
	const [source, target, mode] =
		typeof mount === 'string'
			? mount.includes(':')
				? mount.split(':')
				: [undefined, mount]
			: [members(mount)['source'], members(mount)['target'], members(mount)['read_only'] === true ? 'ro' : 'rw'];
	const suffix = `${said(target)}${mode === 'ro' ? ' ro' : ''}`;
	if (members(mount)['type'] === 'tmpfs') return `memory ${suffix}`;
	if (source === undefined) return `empty ${suffix}`;
	const name = said(source);
	return name.startsWith('/')
		? `bind ${name} ${suffix}`
		: `claim ${said(members(volumes[name])['name'] ?? name).replaceAll('_', '-')} ${suffix}`;
}

function ours({kind, spec}: Members): View {
	const {template, replicas} = members(spec);
	const {metadata, spec: podSpec} = members(template);
	const pod = members(podSpec);
	const container = members(items(pod['containers'])[0]);
	const security = members(container['securityContext']);
	const probe = members(container['readinessProbe']);
	const {limits, requests} = members(container['resources']);
	const {labels, annotations} = members(metadata);
	const marks = Object.entries({...members(labels), ...members(annotations)}).filter(([key]) => !key.startsWith('troupe.dev/'));
	const {runAsUser, runAsGroup} = security;
	const {add, drop} = members(security['capabilities']);
	const literal = (text: string): string => text.replaceAll('$$', '$');
	return {
		image: container['image'],
		program: [...texts(container['command']), ...texts(container['args'])].map(literal),
		environment: items(container['env'])
			.map(each => `${said(members(each)['name'])}=${literal(said(members(each)['value']))}`)
			.sort(),
		ports: items(container['ports']).map(ourPort).sort(),
		mounts: items(container['volumeMounts'])
			.map(each => ourMount(members(each), items(pod['volumes']).map(members)))
			.sort(),
		hosts: items(pod['hostAliases'])
			.flatMap(each => texts(members(each)['hostnames']).map(name => `${name}:${said(members(each)['ip'])}`))
			.sort(),
		check:
			container['readinessProbe'] === undefined
				? undefined
				: {
						words: texts(members(probe['exec'])['command']).map(literal),
						seconds: [probe['periodSeconds'], probe['timeoutSeconds']],
						retries: probe['failureThreshold'],
					},
		resources: {
			limits: [millisOf(members(limits)['cpu']), bytesOf(members(limits)['memory'])],
			requests: [millisOf(members(requests)['cpu']), bytesOf(members(requests)['memory'])],
		},
		flags: {
			user: runAsUser === undefined ? undefined : `${said(runAsUser)}:${said(runAsGroup)}`,
			dir: container['workingDir'],
			host: pod['hostname'],
			grace: pod['terminationGracePeriodSeconds'],
			on: [
				...(container['tty'] === true ? ['tty'] : []),
				...(container['stdin'] === true ? ['stdin_open'] : []),
				...(pod['shareProcessNamespace'] === true ? ['init'] : []),
				...(security['privileged'] === true ? ['privileged'] : []),
				...(security['readOnlyRootFilesystem'] === true ? ['read_only'] : []),
			],
			add: texts(add),
			drop: texts(drop),
			onHost: pod['hostNetwork'] === true,
			options: security['allowPrivilegeEscalation'] === false ? ['no-new-privileges:true'] : [],
			nodes: Object.entries(members(pod['nodeSelector'])).map(([key, value]) => `node.labels.${key} == ${said(value)}`),
		},
		labels: marks.map(([key, value]) => `${key}=${said(value)}`).sort(),
		waitsFor: said(members(annotations)['troupe.dev/depends-on'] ?? '')
			.split(',')
			.filter(each => each !== '')
			.map(each => each.replace(/^\w+\//, ''))
			.sort(),
		replicas: kind === 'DaemonSet' ? 'each node' : (replicas ?? members(spec)['completions'] ?? 1),
		again: kind === 'Job' ? (pod['restartPolicy'] === 'Never' ? 'no' : 'on-failure') : 'always',
	};
}

function ourPort(port: unknown): string {
	const {containerPort, protocol = 'TCP', hostPort, hostIP} = members(port);
	const name = `${said(containerPort)}/${said(protocol).toLowerCase()}`;
	if (hostPort === undefined) return name;
	return `${name} on ${hostIP === undefined ? '' : `${said(hostIP)}:`}${said(hostPort)}`;
}

function ourMount({name, mountPath, readOnly}: Members, volumes: readonly Members[]): string {
	const {hostPath, emptyDir, persistentVolumeClaim, configMap, secret} = volumes.find(each => each['name'] === name) ?? {};
	const suffix = `${said(mountPath)}${readOnly === true ? ' ro' : ''}`;
	const {items: [entry] = []} = members(configMap ?? secret) as {items?: readonly unknown[]};
	const {key, mode} = members(entry);
	if (configMap !== undefined) return `config ${said(key)} ${said(mountPath)} ${said(mode)}`;
	if (secret !== undefined) return `secret ${said(key)} ${said(mountPath)} ${said(mode)}`;
	if (hostPath !== undefined) return `bind ${said(members(hostPath)['path'])} ${suffix}`;
	if (persistentVolumeClaim !== undefined) return `claim ${said(members(persistentVolumeClaim)['claimName'])} ${suffix}`;
	return `${members(emptyDir)['medium'] === 'Memory' ? 'memory' : 'empty'} ${suffix}`;
}
