import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';

const root = path.resolve(import.meta.dirname, '../..');
const layers = ['api', 'system', 'actors', 'agent', 'server', 'cli', 'examples'] as const;
type Layer = (typeof layers)[number];

/** Which layers a layer may import, itself aside. */
const below: Record<Layer, readonly Layer[]> = {
	api: [],
	system: ['api'],
	actors: ['api', 'system'],
	agent: ['api', 'system', 'actors'],
	server: ['api', 'system', 'actors'],
	cli: ['api', 'system', 'actors', 'agent', 'server'],
	// They show that the actor runtime can be used without the rest.
	examples: ['api', 'system'],
};

/**
 * The rooms of the largest folders, the highest first: each imports only rooms below it. What stands beside the rooms is the way in, and every
 * room may use it.
 */
const rooms: Readonly<Record<string, readonly string[]>> = {
	system: [
		'commit',
		'world',
		'leadership',
		'presence',
		'links',
		'inspect',
		'store',
		'broker',
		'kernel',
		'index',
		'archive',
		'files',
		'time',
	],
	cli: [
		'prepare',
		'command-specs',
		'commands',
		'completion',
		'label',
		'set',
		'top',
		'workflow',
		'apply',
		'image',
		'function',
		'logs',
		'port-forward',
		'net-check',
		'exec',
		'get',
		'describe',
		'runs',
		'rollout',
		'diff',
		'drain',
		'edit',
		'create',
		'cp',
		'status',
		'inspect',
		'actor-run',
		'serving',
		'manifests',
		'objects',
		'cluster',
		'command-line',
		'files',
		'screen',
	],
	actors: ['control', 'node', 'workflows', 'protocol'],
	'actors/control': [
		'sync',
		'scheduling',
		'network',
		'nodes',
		'workflows',
		'autoscaling',
		'slurm',
		'functions',
		'workloads',
		'storage',
		'pods',
		'cluster',
		'objects',
	],
	'actors/node': ['usage', 'sync', 'pods', 'containers', 'network', 'cache', 'runtime'],
	'cli/serving': ['control', 'node', 'process'],
	agent: [
		'way-check',
		'network',
		'docker',
		'process',
		'simulated',
		'functions',
		'devices',
		'pod-network',
		'leases',
		'volumes',
		'logs',
		'usage',
		'relay',
		'forward',
		'os',
	],
	'agent/network': ['data-plane', 'router', 'dns', 'proxy', 'nftables', 'services', 'index', 'listeners', 'feed'],
	'agent/docker': ['runners', 'containers', 'sandboxes', 'exec', 'images', 'logs', 'gates', 'programs', 'cgroups', 'engine'],
	'agent/process': ['exec', 'containers', 'start', 'host', 'mounts', 'sandboxes', 'cgroups', 'attempts', 'users'],
};

/** npm packages that do I/O, and the single file that may import each. */
const ioPackages: Record<string, string> = {
	nact: 'system/kernel/nact-executor.ts',
	aedes: 'system/broker/broker.ts',
	mqtt: 'system/links/mqtt-link.ts',
	'classic-level': 'system/store/level-store.ts',
	etcd3: 'system/store/etcd-client.ts',
	ioredis: 'system/store/redis-store.ts',
	ws: 'system/links/web-socket.ts',
	dockerode: 'agent/docker/engine/engine.ts',
	// It can run what it schedules; here it only computes when.
	croner: 'api/cron-schedule.ts',
	'find-my-way': 'server/router.ts',
	'@peculiar/x509': 'server/certificates.ts',
	ssh2: 'server/slurm/ssh.ts',
	meow: 'cli/command-line/arguments.ts',
	pino: 'cli/serving/process/log.ts',
	'prom-client': 'cli/serving/process/exposition.ts',
};

/** npm packages that only compute, and so may be imported where they are needed. */
const purePackages = [
	'ajv',
	'diff',
	'dns-packet',
	'leven',
	'picocolors',
	're2js',
	'reflect-metadata',
	'string-width',
	'tar-stream',
	'typebox',
	'yaml',
];

/** How a file may touch the clock, chance, the environment or the terminal. */
const impurities = {
	'wall clock': /\bDate\.now\(|\bnew Date\(\)/,
	'monotonic clock': /\bperformance\.now\(/,
	timer: /(?<!\.)\bset(Timeout|Interval)\(|\bAbortSignal\.timeout\(/,
	chance: /\bMath\.random\(|\brandomUUID\(|\brandomBytes\(/,
	environment: /\bprocess\.env\b/,
	console: /\bconsole\./,
} as const;

/** The files that do, each with what it may do. Everything else is handed a `Clock`, a `Random` or a value. */
const impure: Record<string, readonly (keyof typeof impurities)[]> = {
	'system/links/socket-like.ts': ['timer'],
	'system/time/clock.ts': ['wall clock', 'monotonic clock', 'timer'],
	'system/time/random.ts': ['chance'],
	// Secrets, serial numbers and names of temporary files have to be beyond guessing.
	'system/files/atomic-file.ts': ['chance'],
	'server/certificates.ts': ['chance'],
	'server/tokens.ts': ['chance'],
	'server/http/broker-config.ts': ['chance'],
	'server/seal.ts': ['chance'],
	'system/files/key-file.ts': ['chance'],
	'system/files/sealing.ts': ['chance'],
	// Programs of their own, beside a user's code.
	'agent/functions/runners/node-calls.ts': ['timer', 'chance'],
	'agent/functions/runners/node-warm.ts': ['environment'],
	'agent/functions/runners/node-wait.ts': ['environment'],
	// Only a method of that name, which HTTP's client calls: it waits by a clock that is handed in.
	// One command lives for a moment: it takes its time and its environment where it begins.
	'cli/main.ts': ['environment'],
	'cli/files/home-flag.ts': ['environment'],
	'cli/serving/node/local-node.ts': ['environment'],
	// Where the SSH agent of the server is.
	'cli/serving/control/term-parts.ts': ['environment'],
	'cli/objects/wait.ts': ['timer'],
	'cli/commands/backup.ts': ['chance'],
	'cli/commands/broker.ts': ['chance'],
	'cli/describe/page.ts': ['wall clock'],
	'cli/commands/events.ts': ['wall clock'],
	'cli/commands/rollout.ts': ['wall clock'],
	'cli/commands/image.ts': ['wall clock'],
	'cli/commands/token.ts': ['wall clock'],
	'cli/get/table.ts': ['wall clock'],
	'examples/actors/counter.ts': ['console'],
	'examples/actors/two-systems.ts': ['console'],
};

/** What the actor runtime may know of the API: words that every object shares, and no kind. */
const kinds = /^api\/(kinds|shapes|schemas|columns|defaults|dialects|rules)\/|^api\/catalogue\.ts$/;

type Source = {readonly file: string; readonly layer: Layer; readonly text: string; readonly imports: readonly string[]};

const sources: readonly Source[] = layers.flatMap(layer =>
	readdirSync(path.join(root, layer), {recursive: true, encoding: 'utf8'})
		.filter(name => name.endsWith('.ts') && !name.endsWith('.d.ts'))
		.map(name => {
			const file = path.posix.join(layer, name);
			const text = readFileSync(path.join(root, file), 'utf8');
			return {file, layer, text, imports: importsOf(text)};
		}),
);

function importsOf(text: string): string[] {
	return [
		...text.matchAll(
			/(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)|(?:^|\n)import\s+['"]([^'"]+)['"]/g,
		),
	].map(match => match[1] ?? match[2] ?? match[3] ?? '');
}

const resolved = (source: Pick<Source, 'file'>, specifier: string): string =>
	path.posix.join(path.posix.dirname(source.file), specifier).replace(/\.js$/, '.ts');

/** The folders with rooms that a file is in. */
const housesOf = (file: string): readonly string[] => Object.keys(rooms).filter(folder => file.startsWith(`${folder}/`));

/** The room of a file in such a folder; undefined for what stands beside the rooms. */
const roomOf = (file: string, house: string): string | undefined => {
	const [room, ...rest] = file.slice(house.length + 1).split('/');
	return rest.length === 0 ? undefined : room;
};

test('imports run downwards only', t => {
	const wrong = sources.flatMap(source =>
		source.imports
			.filter(specifier => specifier.startsWith('.'))
			.map(specifier => resolved(source, specifier))
			.filter(target => {
				const layer = target.split('/')[0] as Layer;
				return layer !== source.layer && !below[source.layer].includes(layer);
			})
			.map(target => `${source.file} imports ${target}`),
	);
	t.deepEqual(wrong, []);
});

test('each room of a folder imports only rooms below it, and nothing stands outside of the rooms but the way in', t => {
	const housed = sources.flatMap(source =>
		housesOf(source.file).map(house => ({...source, house, order: rooms[house] ?? [], own: roomOf(source.file, house)})),
	);
	const wrong = housed.flatMap(({file, imports, house, order, own}) => {
		if (own === undefined) return [];
		if (!order.includes(own)) return [`${file} is in a room without a place`];
		return imports
			.filter(specifier => specifier.startsWith('.'))
			.map(specifier => resolved({file}, specifier))
			.filter(target => housesOf(target).includes(house) && roomOf(target, house) !== undefined)
			.filter(target => order.indexOf(roomOf(target, house) ?? '') < order.indexOf(own))
			.map(target => `${file} imports ${target}`);
	});
	t.deepEqual(wrong, []);
	const outside = housed.filter(({own}) => own === undefined).map(({file}) => file);
	t.deepEqual(outside.sort(), [
		'actors/addresses.ts',
		'actors/config-references.ts',
		'actors/control/design.ts',
		'actors/control/kinds.ts',
		'actors/control/root.ts',
		'actors/control/start.ts',
		'actors/control/wakes.ts',
		'actors/inspector.ts',
		'actors/network-references.ts',
		'actors/node/design.ts',
		'actors/node/root.ts',
		'actors/node/runtime-actor.ts',
		'actors/node/start.ts',
		'actors/secret-members.ts',
		'agent/action-words.ts',
		'agent/actions.ts',
		'agent/attempts.ts',
		'agent/command-names.ts',
		'agent/credential.ts',
		'agent/docker-runtime.ts',
		'agent/docker/files.ts',
		'agent/docker/owner.ts',
		'agent/docker/remove-everything.ts',
		'agent/exec-sessions.ts',
		'agent/handlers.ts',
		'agent/join.ts',
		'agent/metrics-door.ts',
		'agent/node-network.ts',
		'agent/process-runtime.ts',
		'agent/refusals.ts',
		'agent/runtimes.ts',
		'agent/secret-cache.ts',
		'agent/secret-env.ts',
		'agent/secret-fetch.ts',
		'agent/secret-open.ts',
		'agent/server-turns.ts',
		'agent/simulated-runtime.ts',
		'agent/terminal-size.ts',
		'cli/client.ts',
		'cli/command.ts',
		'cli/commands.ts',
		'cli/main.ts',
		'cli/serving/agent.ts',
		'cli/serving/detach.ts',
		'cli/serving/server.ts',
		'cli/serving/serving-flags.ts',
		'cli/serving/serving-options.ts',
		'cli/serving/stop-cluster.ts',
		'cli/serving/up.ts',
	]);
});

test('the control tree and the node tree import nothing of each other', t => {
	const trees = [
		['actors/control/', 'actors/node/'],
		['actors/node/', 'actors/control/'],
	] as const;
	const wrong = trees.flatMap(([own, other]) =>
		sources
			.filter(({file}) => file.startsWith(own))
			.flatMap(source => source.imports.map(specifier => resolved(source, specifier)).filter(target => target.startsWith(other)))
			.map(target => `${own} imports ${target}`),
	);
	t.deepEqual(wrong, []);
});

/** What stands beside the layers: what is in a folder may use that of these folders. The first that fits counts. */
const beside: readonly (readonly [from: string, to: readonly string[]])[] = [
	['bench/harness/', ['bench/harness/']],
	['bench/rigs/', ['bench/rigs/', 'bench/harness/']],
	['bench/', ['bench/']],
	['test/', ['test/', 'bench/rigs/']],
];

test('benches use no tests, and tests use of the benches the rigs alone', t => {
	const files = ['bench', 'test'].flatMap(folder =>
		readdirSync(path.join(root, folder), {recursive: true, encoding: 'utf8'})
			.filter(name => name.endsWith('.ts'))
			.map(name => path.posix.join(folder, name)),
	);
	const wrong = files.flatMap(file => {
		const text = readFileSync(path.join(root, file), 'utf8');
		const allowed = beside.find(([from]) => file.startsWith(from))?.[1] ?? [];
		// Programs are named by their paths, too.
		const named = file.startsWith('bench/') ? [...text.matchAll(/['"`]((?:\.\.\/)+test\/[^'"`]*)/g)].map(match => match[1] ?? '') : [];
		return [...new Set([...importsOf(text), ...named])]
			.filter(specifier => specifier.startsWith('.'))
			.map(specifier => resolved({file}, specifier))
			.filter(target => /^(bench|test)\//.test(target) && !allowed.some(folder => target.startsWith(folder)))
			.map(target => `${file} uses ${target}`);
	});
	t.deepEqual(wrong, []);
});

test('there is no ring of imports', t => {
	const graph = new Map(sources.map(source => [source.file, source.imports.filter(s => s.startsWith('.')).map(s => resolved(source, s))]));
	const done = new Set<string>();
	const rings: string[] = [];
	const visit = (file: string, trail: readonly string[]): void => {
		if (trail.includes(file)) rings.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
		if (done.has(file) || trail.includes(file)) return;
		for (const target of graph.get(file) ?? []) visit(target, [...trail, file]);
		done.add(file);
	};
	for (const file of graph.keys()) visit(file, []);
	t.deepEqual(rings, []);
});

test('every npm package is known: pure, or imported by the one file that is named here', t => {
	const isNpm = (specifier: string): boolean => !specifier.startsWith('.') && !specifier.startsWith('node:');
	const nameOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
	const imported = new Set(sources.flatMap(({imports}) => imports.filter(isNpm).map(nameOf)));
	t.deepEqual([...imported].sort(), [...Object.keys(ioPackages), ...purePackages].sort());
});

test('each package that does I/O is imported by one file', t => {
	const wrong = sources.flatMap(source =>
		source.imports
			.filter(specifier => specifier in ioPackages && ioPackages[specifier] !== source.file)
			.map(specifier => `${source.file} imports ${specifier}, which belongs to ${ioPackages[specifier]}`),
	);
	t.deepEqual(wrong, []);
});

test('api and actors reach for nothing outside: no node modules', t => {
	const wrong = sources
		.filter(({layer}) => layer === 'api' || layer === 'actors')
		.flatMap(source => source.imports.filter(s => s.startsWith('node:')).map(s => `${source.file} imports ${s}`));
	t.deepEqual(wrong, []);
});

test('clock, chance, environment and console are used in a short list of files, each as it is listed', t => {
	const found = sources.flatMap(({file, text}) =>
		Object.entries(impurities)
			.filter(([, words]) => words.test(text))
			.map(([impurity]) => `${file}: ${impurity}`),
	);
	const listed = Object.entries(impure).flatMap(([file, allowed]) => allowed.map(impurity => `${file}: ${impurity}`));
	t.deepEqual(found.sort(), listed.sort());
});

test('the actor runtime knows no kind of object', t => {
	const wrong = sources
		.filter(({layer}) => layer === 'system')
		.flatMap(source =>
			source.imports
				.filter(specifier => specifier.startsWith('.'))
				.map(specifier => resolved(source, specifier))
				.filter(target => kinds.test(target))
				.map(target => `${source.file} imports ${target}`),
		);
	t.deepEqual(wrong, []);
});

test('every source begins with what it keeps true', t => {
	const bare = sources.filter(({text}) => !/^(#!.*\n)?\/\/ \S/.test(text)).map(({file}) => file);
	t.deepEqual(bare, []);
});
