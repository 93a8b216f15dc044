// The examples of compose files as they run: brought up by docker-compose on one Engine and by `troupe apply` on another, every service is the
// same as seen by `docker inspect`, from inside, from its host, and by its exit; but for what is meant to differ.
//
// No registry is reached: the images are stand-ins that listen and wait.

import {execFile} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import type {Pod} from '../../api/kinds/pod.js';
import {serviceLabel} from '../../api/compose/convert.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {line} from '../../bench/rigs/command-line.js';
import type {Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {makeStandIns, type StandIn} from '../../bench/rigs/servers/stand-ins.js';
import type {Client} from '../../cli/client.js';
import {openHome} from '../e2e/_rig.js';
import {lookInto, lookScript, type Look} from './_compose-look.js';
import {sharedDockerd} from './_dockerd.js';

const run = promisify(execFile);
const examples = path.resolve(import.meta.dirname, '../../../examples/compose');

const [theirs, ours] = [sharedDockerd(test), sharedDockerd(test, {bip: '10.244.2.1/24'})];
const cleanings: (() => void | Promise<void>)[] = [];
const home = openHome({teardown: clean => void cleanings.unshift(clean)});
test.after.always('the cluster ends', async () => {
	for (const clean of cleanings) await clean();
});

const images: readonly StandIn[] = [
	{
		names: ['nginx:latest', 'nginx:1.27-alpine'],
		says: [
			'ENTRYPOINT ["docker-entrypoint"]',
			'CMD ["nginx", "-g", "daemon off;"]',
			'ENV WWW=/usr/share/nginx/html',
			'ENV LISTEN="80 443"',
			'EXPOSE 80',
		],
	},
	{
		names: ['redis:7', 'redis:7-alpine'],
		says: ['ENTRYPOINT ["docker-entrypoint"]', 'CMD ["redis-server"]', 'VOLUME /data', 'WORKDIR /data', 'EXPOSE 6379'],
	},
	{
		names: ['postgres:16'],
		says: [
			'ENTRYPOINT ["docker-entrypoint"]',
			'CMD ["postgres"]',
			'VOLUME /var/lib/postgresql/data',
			'ENV PGDATA=/var/lib/postgresql/data',
		],
	},
	{
		names: ['mysql:8.0', 'mariadb:11'],
		says: ['ENTRYPOINT ["docker-entrypoint"]', 'CMD ["mysqld"]', 'VOLUME /var/lib/mysql', 'HEALTHCHECK --interval=1s CMD true'],
	},
	{names: ['busybox:latest'], says: ['CMD ["sh"]']},
	{names: ['wordpress:latest'], says: ['CMD ["apache2-foreground"]', 'WORKDIR /var/www/html', 'ENV LISTEN=80']},
	{names: ['fluentd:latest'], says: ['CMD ["fluentd"]', 'USER 100', 'ENV LISTEN=24224']},
	{names: ['example/counter:latest'], says: ['CMD ["sh"]', 'ENV LISTEN="5000 9000 9001"']},
	{names: ['example/batch:3'], says: ['WORKDIR /app', 'CMD ["./migrate"]']},
	{
		names: [
			'example/app:2',
			'example/app:1.4',
			'example/app:latest',
			'example/api:3',
			'example/agent:3',
			'example/backup:latest',
			'example/mail:latest',
		],
		says: ['CMD ["app"]', 'WORKDIR /app', 'ENV LISTEN="80 3000 8080"'],
	},
];

let client: Client;

test.serial('both have the images, and one has a cluster', async t => {
	await Promise.all([
		...[theirs(), ours()].map(daemon => makeStandIns(daemon, images, {'bin/look': lookScript})),
		home.up('--docker', ours().url, '--allow-privileged', '--warm-sandboxes', '0'),
	]);
	client = await home.client();
	t.regex(await home.fine('label', 'node', 'vm', 'disk=ssd'), /labeled/);
});

// ---- what is meant to differ -----------------------------------------------------------------------------------------------

type Meant = {
	readonly field: string;
	/** The services that it is about, all where it is not there. */
	readonly of?: readonly string[];
	readonly because: string;
	/** Ours without the difference: the rest has to be the same. Without it the whole field may differ. */
	readonly but?: (ours: string) => string;
};

const without =
	(pattern: RegExp) =>
	(text: string): string =>
		text
			.split('\n')
			.filter(each => !pattern.test(each))
			.join('\n');

/** A line more, where Docker has it. */
const and =
	(more: string) =>
	(text: string): string =>
		[...text.split('\n'), more].filter(Boolean).sort().join('\n');

const isExclusive = ['health/db', 'wordpress/db', 'wordpress/wordpress'];
const gate = 'the pods of a StatefulSet are exclusive: their programs begin behind a gate, which becomes them';
const hasConfig = ['nginx/proxy', 'long/web-app'];
const config = 'docker-compose 1.29 leaves configs out, and says so';
const init = 'with init the processes of the pod are one namespace, whose first process takes in orphans';

/** docs/compose.md has this for people. */
const meant: readonly Meant[] = [
	{
		field: 'environment',
		because: 'each pod knows its name, its namespace and its address, an exclusive one its lease',
		but: without(/^(POD_(IP|NAME|NAMESPACE)|TROUPE_LEASE_EPOCH)=/),
	},
	{field: 'hostname', because: "a pod's, where the file says none; Docker takes the container's id"},
	{
		field: 'rights',
		because: 'no new privileges; security_opt no-new-privileges:false gives them',
		but: text => text.replace(/NoNewPrivs:\t1/, 'NoNewPrivs:\t0'),
	},
	{field: 'processes', because: 'a container has at most 1,024, unless the node says otherwise'},
	{field: 'program', of: isExclusive, because: gate, but: text => text.replace('"/.troupe-gate",', '')},
	{field: 'mounts', of: isExclusive, because: gate, but: without(/^\/\.troupe-(gate|go) /)},
	{field: 'files', of: isExclusive, because: gate, but: without(/^\/\.troupe-gate /)},
	{field: 'mounts', of: hasConfig, because: config, but: without(/^\/etc\/(nginx\/conf\.d\/default\.conf|app\/settings\.json) /)},
	{field: 'files', of: hasConfig, because: config, but: without(/^\/etc\/(nginx\/conf\.d\/default\.conf 440|app\/settings\.json 644) /)},
	{field: 'mounts', of: ['health/app'], because: init, but: and('/sbin/docker-init disk ro')},
	{field: 'files', of: ['health/app'], because: init},
	{
		field: 'mounts',
		of: ['secrets/db', 'secrets/backup'],
		because: 'secrets are in memory; docker-compose mounts the files themselves',
		but: text => text.replace(/^(\/run\/secrets\/\S+) tmpfs ro size=\d+k$/gm, '$1 disk ro'),
	},
	{
		field: 'files',
		of: ['secrets/db'],
		because: 'docker-compose leaves the mode of a secret out, and says so',
		but: text => text.replace('user-password 400', 'user-password 644'),
	},
	{field: 'available', of: ['health/app'], because: "Docker's first look comes after an interval, here a minute; a probe's comes at once"},
	{field: 'swap', of: ['limits/api', 'redis/web'], because: 'memory is limited without swap; Docker gives as much again'},
	{field: 'memory reserved', of: ['limits/api', 'redis/web'], because: 'what is reserved is kept free on the node'},
	{field: 'cpu shares', of: ['limits/api', 'redis/web'], because: 'what is asked for of the CPU is a weight as well'},
	{
		field: 'folders',
		of: ['redis/redis'],
		because: 'a folder in memory may be written by any user; Docker takes the permissions of the image',
		but: text => text.replace('/data  writable', '/data'),
	},
	{
		field: 'folders',
		of: ['long/logger'],
		because: 'a volume may be written by any user; Docker takes the permissions of the image, or root alone',
		but: text => text.replace('/cache  writable', '/cache'),
	},
	{
		field: 'folders',
		of: ['wordpress/wordpress'],
		because: 'a volume begins empty; Docker copies what the image has there',
		but: text => text.replace('/var/www/html ', '/var/www/html index.html '),
	},
];

// ---- one file, on both sides -----------------------------------------------------------------------------------------------

type Example = {readonly name: string; readonly file: string};

const exampleOf = (name: string): Example => {
	const folder = path.join(examples, name);
	return {name, file: path.join(folder, readdirSync(folder).find(each => /compose\.ya?ml$/.test(each)) ?? '')};
};

const surroundings = {COMPOSE_PROFILES: 'debug,mail', PATH: process.env['PATH'] ?? ''};

async function compose({name, file}: Example, ...words: readonly string[]): Promise<string> {
	const args = ['--compatibility', '--project-name', name, '--file', file, ...words];
	const env = {...surroundings, HOME: theirs().folder, DOCKER_HOST: theirs().url, COMPOSE_PARALLEL_LIMIT: '8'};
	return (await run('docker-compose', args, {env, maxBuffer: 16 * 1024 * 1024})).stdout;
}

async function troupe(...words: readonly string[]): Promise<string> {
	const {code, out, err} = await line(words, {home: home.home, env: surroundings});
	if (code !== 0) throw new Error(`troupe ${words.join(' ')} ended with ${code}: ${err}${out}`);
	return out;
}

async function apply({name, file}: Example): Promise<void> {
	await troupe('create', 'namespace', name);
	await troupe('apply', '--no-build', '-n', name, '-f', file);
}

/** A service, as one side has it. */
type Seen = {readonly count: number; readonly ids: readonly string[]; readonly fields: Look};

/** By service. */
type Side = ReadonlyMap<string, Seen>;

type TheirContainer = {
	readonly Id: string;
	readonly State: {
		readonly Running: boolean;
		readonly ExitCode: number;
		readonly Pid: number;
		readonly StartedAt: string;
		readonly FinishedAt: string;
		readonly Health?: {readonly Status: string};
	};
	readonly Config: {readonly Labels: Readonly<Record<string, string>>};
	readonly HostConfig: {
		readonly RestartPolicy: {readonly Name: string};
		readonly PortBindings: Bindings | null;
	};
};
type Bindings = Readonly<Record<string, readonly {readonly HostIp: string; readonly HostPort: string}[]>>;

const serviceName = 'com.docker.compose.service';

async function inspected({docker}: Dockerd, ...filters: readonly string[]): Promise<readonly TheirContainer[]> {
	const ids = (await docker('ps', '-aq', '--no-trunc', ...filters.flatMap(filter => ['--filter', `label=${filter}`])))
		.split('\n')
		.filter(Boolean);
	return ids.length === 0 ? [] : (JSON.parse(await docker('inspect', ...ids)) as readonly TheirContainer[]);
}

function groupedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
	const groups = new Map<string, Item[]>();
	for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
	return groups;
}

async function theirSide({name}: Example): Promise<Side> {
	const containers = await inspected(theirs(), `com.docker.compose.project=${name}`);
	const services = groupedBy(containers, ({Config}) => labelled(Config.Labels[serviceName]));
	return new Map(
		await Promise.all(
			[...services].map(async ([service, all]): Promise<[string, Seen]> => {
				const [first] = all;
				if (first === undefined) throw new Error(`${service} has no container`);
				const {Running, ExitCode, Health} = first.State;
				const fields = Running
					? {
							...(await lookInto(theirs(), first.Id)),
							available: String(Health === undefined || Health.Status === 'healthy'),
							ports: portsText(first.HostConfig.PortBindings),
							answers: await answersOf(theirs(), first.HostConfig.PortBindings),
						}
					: {'exit code': String(ExitCode)};
				return [service, {count: all.length, ids: all.map(({Id}) => Id), fields}];
			}),
		),
	);
}

const labelled = (service = ''): string => service.toLowerCase().replaceAll('_', '-');

async function podsOf({name}: Example): Promise<readonly Pod[]> {
	return ((await client.json({path: `/api/v1/namespaces/${name}/pods`})) as {readonly items: readonly Pod[]}).items;
}

const isSettled = ({status}: Pod): boolean =>
	status?.phase === 'Succeeded' || status?.conditions?.some(({type, status: is}) => type === 'Ready' && is === 'True') === true;

async function ourSide(example: Example): Promise<Side> {
	const services = groupedBy(await podsOf(example), ({metadata}) => metadata.labels?.[serviceLabel] ?? '');
	return new Map(
		await Promise.all(
			[...services].map(async ([service, pods]): Promise<[string, Seen]> => {
				const [pod] = pods;
				const [container] = pod?.status?.containerStatuses ?? [];
				if (pod === undefined || container === undefined) throw new Error(`${example.name}: ${service} has no container`);
				const id = idIn(container.containerID);
				const [infra] = await inspected(ours(), `troupe.dev/pod-uid=${pod.metadata.uid}`, 'troupe.dev/container=_infra');
				const bindings = infra?.HostConfig.PortBindings ?? null;
				const fields =
					container.state?.running === undefined
						? {'exit code': String(container.state?.terminated?.exitCode)}
						: {
								...(await lookInto(ours(), id)),
								available: String(isSettled(pod)),
								ports: portsText(bindings),
								answers: await answersOf(ours(), bindings),
							};
				return [service, {count: pods.length, ids: [id], fields}];
			}),
		),
	);
}

const idIn = (containerID = ''): string => containerID.replace('docker://', '');

function portsText(bindings: Bindings | null): string {
	const all = Object.entries(bindings ?? {}).flatMap(([port, hosts]) =>
		hosts.map(({HostIp, HostPort}) => `${HostIp}:${HostPort}->${port}`),
	);
	return all.sort().join(' ');
}

/** What is heard at each published port of TCP. */
async function answersOf({inNamespace}: Dockerd, bindings: Bindings | null): Promise<string> {
	const ports = Object.entries(bindings ?? {}).flatMap(([port, hosts]) =>
		port.endsWith('/tcp') ? hosts.map(({HostPort}) => HostPort) : [],
	);
	const answers = await Promise.all(
		ports.sort().map(async port => {
			const url = `http://127.0.0.1:${port}/`;
			return `${port}: ${await inNamespace('busybox', 'wget', '-T', '5', '-qO-', url).catch(() => 'nothing\n')}`;
		}),
	);
	return answers.join('');
}

// ---- the comparison --------------------------------------------------------------------------------------------------------

type Difference = {readonly about: string; readonly field: string; readonly theirs: string | undefined; readonly ours: string | undefined};

const seen = new Set<Meant>();

/** The fields that differ, and are not meant to. */
function differences(about: string, them: Look, us: Look): readonly Difference[] {
	return [...new Set([...Object.keys(them), ...Object.keys(us)])].flatMap((field): readonly Difference[] => {
		if (them[field] === us[field]) return [];
		const rows = meant.filter(each => each.field === field && (each.of === undefined || each.of.includes(about)));
		for (const row of rows) seen.add(row);
		const rest = rows.reduce((text, {but = () => them[field] ?? ''}) => but(text), us[field] ?? '');
		return rest === them[field] ? [] : [{about, field, theirs: them[field], ours: rest}];
	});
}

type Both = {readonly example: Example; readonly them: Side; readonly us: Side};

/** Brings them up on both sides; what they are there. */
async function compareAll(t: ExecutionContext, chosen: readonly Example[]): Promise<readonly Both[]> {
	await Promise.all(chosen.flatMap(example => [compose(example, 'up', '--detach', '--no-build'), apply(example)]));
	const both = await Promise.all(
		chosen.map(async example => {
			const them = await theirSide(example);
			const wanted = [...them.values()].reduce((sum, {count}) => sum + count, 0);
			let pods: readonly Pod[] = [];
			await eventually(
				`the ${wanted} pods of ${example.name} are there`,
				async () => (pods = await podsOf(example)).length === wanted && pods.every(isSettled),
				() => pods.map(({metadata, status}) => `${metadata.name}: ${JSON.stringify(status)}`).join('\n'),
				60_000,
			);
			return {example, them, us: await ourSide(example)};
		}),
	);
	const found: Difference[] = [];
	for (const {example, them, us} of both) {
		t.deepEqual([...us.keys()].sort(), [...them.keys()].sort(), example.name);
		for (const [service, {count, fields}] of them) {
			const own = us.get(service);
			const about = `${example.name}/${service}`;
			t.is(own?.count, count, `${about}: how many`);
			found.push(...differences(about, fields, own?.fields ?? {}));
		}
	}
	t.deepEqual(found, []);
	return both;
}

async function down(chosen: readonly Example[]): Promise<void> {
	await Promise.all(
		chosen.flatMap(example => [
			compose(example, 'down', '--volumes', '--timeout', '1'),
			troupe('delete', '-n', example.name, '-f', example.file, '--now'),
		]),
	);
}

// ---- what becomes of a program that is killed -------------------------------------------------------------------------------

/** Whether docker-compose's container runs again after it; the kernel's kill, which the Engine does not count as a stop. */
async function restartsTheirs(id: string): Promise<boolean> {
	const look = async (): Promise<TheirContainer['State'] & {readonly isOver: boolean}> => {
		const [{State, HostConfig}] = JSON.parse(await theirs().docker('inspect', id)) as readonly [TheirContainer];
		return {...State, isOver: !State.Running && ['', 'no'].includes(HostConfig.RestartPolicy.Name)};
	};
	const before = await look();
	process.kill(before.Pid, 'SIGKILL');
	let now = before;
	const isDone = async (): Promise<boolean> => (now = await look()).isOver || (now.Running && now.Pid !== before.Pid);
	await eventually('it runs again, or is over', isDone, () => JSON.stringify(now));
	return now.Running;
}

/** Whether ours does. */
async function restartsOurs(example: Example, id: string): Promise<boolean> {
	const [{State}] = JSON.parse(await ours().docker('inspect', id)) as readonly [TheirContainer];
	const pods = await podsOf(example);
	const uid = pods.find(({status}) => status?.containerStatuses?.some(({containerID}) => idIn(containerID) === id))?.metadata.uid;
	process.kill(State.Pid, 'SIGKILL');
	let now: Pod['status'];
	const isDone = async (): Promise<boolean> => {
		now = (await podsOf(example)).find(({metadata}) => metadata.uid === uid)?.status;
		const container = now?.containerStatuses?.[0];
		return now?.phase === 'Failed' || (container?.state?.running !== undefined && container.restartCount > 0);
	};
	await eventually('it runs again, or is over', isDone, () => `${example.name}: ${JSON.stringify(now)}`);
	return now?.phase === 'Running';
}

/** Services of the files that say nothing of restarts: the pods of workloads are always started again. */
const saysNothing = ['anchors/queue', 'env/app', 'health/db', 'limits/agent', 'nginx/proxy', 'redis/web', 'secrets/backup', 'secrets/db'];

async function killAll(t: ExecutionContext, both: readonly Both[]): Promise<void> {
	const killed = both.flatMap(({example, them, us}) =>
		[...them].map(
			async ([
				service,
				{
					ids: [id = ''],
					fields,
				},
			]) => {
				if (fields['exit code'] !== undefined) return;
				const about = `${example.name}/${service}`;
				const [theirsAgain, oursAgain] = await Promise.all([restartsTheirs(id), restartsOurs(example, us.get(service)?.ids[0] ?? '')]);
				t.true(oursAgain, about);
				t.is(theirsAgain, !saysNothing.includes(about), about);
			},
		),
	);
	await Promise.all(killed);
}

// ---- the tests -------------------------------------------------------------------------------------------------------------

const beside = ['anchors', 'env', 'health', 'limits', 'nginx', 'redis', 'secrets', 'wordpress'].map(exampleOf);

let besideEachOther: readonly Both[] = [];

test.serial('examples whose ports are free beside each other', async t => {
	besideEachOther = await compareAll(t, beside);
});

test.serial(
	'a service whose program is killed runs again where docker-compose starts it again, and where the file says nothing',
	async t => {
		t.is(besideEachOther.length, beside.length);
		await killAll(t, besideEachOther);
		await down(beside);
	},
);

test.serial('an example that has the host itself, and all forms of mounts', async t => {
	const example = await permitted(exampleOf('long'));
	await compareAll(t, [example]);
	await down([example]);
});

/** Where the kernel lets no container be privileged, for Docker neither, the file without that. */
async function permitted(example: Example): Promise<Example> {
	const isAllowed = await theirs()
		.docker('run', '--rm', '--privileged', 'busybox', 'true')
		.then(
			() => true,
			() => false,
		);
	if (isAllowed) return example;
	const folder = path.join(home.folder, example.name);
	cpSync(path.dirname(example.file), folder, {recursive: true});
	const file = path.join(folder, path.basename(example.file));
	writeFileSync(file, readFileSync(file, 'utf8').replace(/^ +(privileged: true|cap_add: .*)\n/gm, ''));
	return {...example, file};
}

test.serial('an example with profiles', async t => {
	await compareAll(t, [exampleOf('profiles')]);
	await down([exampleOf('profiles')]);
});

test.serial('services begin in the order that depends_on says, on both', async t => {
	const folder = path.join(home.folder, 'order');
	mkdirSync(folder);
	const example = {name: 'order', file: path.join(folder, 'compose.yaml')};
	writeFileSync(
		example.file,
		`services:
  db:
    image: busybox
    command: sh -c 'sleep 1; touch /there; exec sleep 1000000'
    healthcheck: {test: test -e /there, interval: 1s}
    stop_grace_period: 0s
  migrate:
    image: busybox
    command: sleep 1
    restart: "no"
    depends_on: {db: {condition: service_healthy}}
  app:
    image: busybox
    command: sleep 1000000
    stop_grace_period: 0s
    depends_on: {migrate: {condition: service_completed_successfully}, db: {condition: service_started}}
`,
	);
	await Promise.all([compose(example, 'up', '--detach'), apply(example)]);
	const settled = async (): Promise<readonly Pod[]> => {
		let pods: readonly Pod[] = [];
		const areAll = async (): Promise<boolean> => (pods = await podsOf(example)).length === 3 && pods.every(isSettled);
		await eventually('all three have begun', areAll, () => JSON.stringify(pods), 30_000);
		return pods;
	};
	const times = new Map<string, readonly [begun: number, ended: number]>();
	for (const {Config, State} of await inspected(theirs(), 'com.docker.compose.project=order'))
		times.set(`their ${Config.Labels[serviceName] ?? ''}`, [Date.parse(State.StartedAt), Date.parse(State.FinishedAt)]);
	const readyAt = new Map<string, number>();
	for (const {metadata, status} of await settled()) {
		const {running, terminated} = status?.containerStatuses?.[0]?.state ?? {};
		const service = `our ${metadata.labels?.[serviceLabel] ?? ''}`;
		times.set(service, [Date.parse(running?.startedAt ?? terminated?.startedAt ?? ''), Date.parse(terminated?.finishedAt ?? '')]);
		readyAt.set(service, Date.parse(status?.conditions?.find(({type}) => type === 'Ready')?.lastTransitionTime ?? ''));
	}
	for (const side of ['their', 'our']) {
		const [[db = 0] = [], [migrate = 0, migrated = 0] = [], [app = 0] = []] = ['db', 'migrate', 'app'].map(service =>
			times.get(`${side} ${service}`),
		);
		t.true(db > 0 && migrate >= db + 1_000, `${side} migrate waits until db is healthy: ${migrate - db} ms`);
		t.true(migrated >= migrate + 900 && app >= migrated, `${side} app waits until migrate has ended: ${app - migrated} ms`);
	}
	t.true((times.get('our migrate')?.[0] ?? 0) >= (readyAt.get('our db') ?? Infinity) - 1_000);
	await down([example]);
});

test.serial('no difference is listed that is none, and nothing is left', async t => {
	t.deepEqual(
		meant.filter(row => !seen.has(row)),
		[],
	);
	await home.fine('down', '--pods');
	const containers = await inspected(ours());
	t.deepEqual(containers, []);
	t.is((await ours().docker('volume', 'ls', '-q')).trim(), '', 'volumes that images ask for went with their containers');
});
