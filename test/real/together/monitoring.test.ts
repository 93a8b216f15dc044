// Debian's Prometheus (prometheus) with the files of examples/monitoring: it scrapes a server, its nodes, an agent and a pod; its rules and the
// queries of the dashboard are tried, and a thousand pods make no more series than ten.

import {spawn, spawnSync} from 'node:child_process';
import {copyFileSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {readEndpoints} from '../../../cli/files/endpoints.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {openAgent, openServer, type Server} from '../../e2e/_hosts.js';
import {follow, openHome} from '../../e2e/_rig.js';

const examples = path.resolve(import.meta.dirname, '../../../../examples/monitoring');
const tokenOf = async (server: Pick<Server, 'fine'>): Promise<string> =>
	(await server.fine('token', 'create', 'prometheus', '--role', 'metrics')).trim();

function promtool(t: ExecutionContext, words: readonly string[], input = '', cwd = examples): string {
	const {status, stdout, stderr, error} = spawnSync('promtool', words, {input, cwd, encoding: 'utf8'});
	t.is(status, 0, `promtool ${words.join(' ')}: ${error?.message ?? ''}${stdout}${stderr}`);
	return stdout;
}

/** A port that was free a moment ago. */
const freePort = (): Promise<number> =>
	new Promise(resolve => {
		const server = createServer().listen(0, '127.0.0.1', () => {
			const address = server.address();
			server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
		});
	});

type Target = {
	readonly labels: Record<string, string>;
	readonly health: string;
	readonly lastError: string;
	readonly lastScrapeDuration: number;
};
type Result = {readonly metric: Record<string, string>; readonly value: readonly [number, string]};

/** Starts it with the example's configuration, whose places are replaced; what asks it. */
async function openPrometheus(t: ExecutionContext, server: Server, token: string, more = '') {
	const folder = path.join(server.folder, 'prometheus');
	mkdirSync(folder);
	for (const file of ['alerts.yml', 'alerts.test.yml']) copyFileSync(path.join(examples, file), path.join(folder, file));
	copyFileSync(path.join(server.home, 'ca.crt'), path.join(folder, 'ca.crt'));
	writeFileSync(path.join(folder, 'metrics.token'), `${token}\n`, {mode: 0o600});
	const config = readFileSync(path.join(examples, 'prometheus.yml'), 'utf8')
		.replaceAll('127.0.0.1:6443', new URL(server.api()).host)
		.replaceAll(/interval: \d+s/g, 'interval: 1s');
	t.not(config, readFileSync(path.join(examples, 'prometheus.yml'), 'utf8'));
	writeFileSync(path.join(folder, 'prometheus.yml'), config + more);
	promtool(t, ['check', 'config', 'prometheus.yml'], '', folder);
	const port = await freePort();
	const flags = [
		'--config.file=prometheus.yml',
		`--web.listen-address=127.0.0.1:${port}`,
		`--storage.tsdb.path=${path.join(folder, 'data')}`,
	];
	const child = spawn('prometheus', flags, {cwd: folder, stdio: ['ignore', 'pipe', 'pipe']});
	t.teardown(() => void child.kill('SIGKILL'));
	const started = follow(child, '');
	await started.notes(/Server is ready to receive web requests/);
	const ask = async <Data>(where: string): Promise<Data> => {
		const answer = await fetch(`http://127.0.0.1:${port}${where}`);
		const {status, data, error} = (await answer.json()) as {status: string; data: Data; error?: string};
		if (status !== 'success') throw new Error(`${where}: ${error ?? ''}`);
		return data;
	};
	return {
		targets: async (): Promise<readonly Target[]> =>
			(await ask<{activeTargets: readonly Target[]}>('/api/v1/targets?state=active')).activeTargets,
		query: async (expression: string): Promise<readonly Result[]> =>
			(await ask<{result: readonly Result[]}>(`/api/v1/query?query=${encodeURIComponent(expression)}`)).result,
		alerts: async () =>
			(
				await ask<{groups: {rules: {name: string; health: string; lastError?: string; alerts: {state: string}[]}[]}[]}>('/api/v1/rules')
			).groups.flatMap(({rules}) => rules),
	};
}

const dashboard = JSON.parse(readFileSync(path.join(examples, 'dashboard.json'), 'utf8')) as {
	readonly panels: readonly {
		readonly id: number;
		readonly type: string;
		readonly title: string;
		readonly targets?: readonly {readonly expr: string}[];
	}[];
	readonly templating: {readonly list: readonly {readonly name: string}[]};
};

/** As Grafana fills it in. */
const filled = (expression: string): string =>
	expression.replaceAll('$__rate_interval', '30s').replaceAll('$job', 'troupe').replaceAll('$node', '.*');

/** Panels that show nothing where nothing of the sort has happened. */
const mayBeEmpty = new Set(['What the broker refuses or cuts']);

test.serial('promtool takes the rules, their tests and the configuration of the example', t => {
	t.regex(promtool(t, ['check', 'rules', 'alerts.yml']), /SUCCESS: \d+ rules found/);
	t.regex(promtool(t, ['test', 'rules', 'alerts.test.yml']), /SUCCESS/);
	const rules = readFileSync(path.join(examples, 'alerts.yml'), 'utf8');
	const tests = readFileSync(path.join(examples, 'alerts.test.yml'), 'utf8');
	for (const [, name = ''] of rules.matchAll(/- alert: (\w+)/g))
		t.regex(tests, new RegExp(`alertname: ${name}\\n`), `no test lets ${name} fire`);
});

test.serial(
	'a Prometheus with the example scrapes server, nodes, an agent and a pod without an error, and every query of the dashboard has an answer',
	async t => {
		const server = await openServer(t);
		const agent = await openAgent(t, [server.api()], await server.joinToken(), 'one', '--network=shared', '--metrics=127.0.0.1:0');
		const ownPlace = new URL(readEndpoints(agent.home)?.metrics ?? '');
		t.is((await fetch(ownPlace)).status, 401);
		const token = await tokenOf(server);
		const other = `
  - job_name: agents
    authorization: {credentials_file: ${path.join(agent.home, 'metrics.token')}}
    static_configs: [{targets: ['${ownPlace.host}']}]
`;
		const script = `require('node:http').createServer((q, a) => a.end(q.url === '/stats' ? 'up_since 7\\n' : 'no')).listen(Number(process.env.PORT))`;
		const port = await freePort();
		const pod = (name: string, annotations: object): object => ({
			apiVersion: 'v1',
			kind: 'Pod',
			metadata: {name, labels: {app: 'shop'}, annotations: {'prometheus.io/scrape': 'true', ...annotations}},
			spec: {
				runtimeClassName: 'process',
				containers: [{name: 'main', image: 'none', command: [process.execPath, '-e', script], env: [{name: 'PORT', value: String(port)}]}],
			},
		});
		await server.apply(
			pod('told', {'prometheus.io/port': String(port), 'prometheus.io/path': '/stats'}),
			pod('untold', {'prometheus.io/scrape': 'no'}),
		);
		const folder = path.join(server.folder, 'double');
		mkdirSync(folder);
		writeFileSync(path.join(folder, 'func.py'), 'def main(params):\n    return {"n": 2 * params["n"]}\n');
		const manifest = path.join(server.folder, 'double.yaml');
		writeFileSync(manifest, 'apiVersion: troupe.dev/v1\nkind: Function\nmetadata: {name: double}\nspec: {userUploadFilePath: double}\n');
		await server.fine('apply', '-f', manifest);
		t.is(await server.fine('execute', 'double', '{"n": 4}'), '{"n":8}\n');

		const prometheus = await openPrometheus(t, server, token, other);
		let targets: readonly Target[] = [];
		const jobs = ['agents', 'troupe', 'troupe-nodes', 'troupe-pods'];
		await eventually(
			'all targets are up',
			async () => {
				targets = await prometheus.targets();
				return targets.length === jobs.length && targets.every(({health}) => health === 'up');
			},
			() => JSON.stringify(targets),
			60_000,
		);
		t.deepEqual(targets.map(({labels}) => labels['job']).toSorted(), jobs);
		t.deepEqual(
			targets.map(({lastError}) => lastError),
			['', '', '', ''],
		);
		t.like(targets.find(({labels}) => labels['job'] === 'troupe-pods')?.labels, {
			namespace: 'default',
			pod: 'told',
			node: 'one',
			app: 'shop',
		});
		t.is(targets.find(({labels}) => labels['job'] === 'troupe-nodes')?.labels['instance'], 'one');
		await eventually('the pod is scraped', async () => (await prometheus.query('up_since'))[0]?.value[1] === '7');
		// Rates need two scrapes, and what happens in between.
		await server.fine('execute', 'double', '{"n": 5}');
		await eventually(
			'the load is seen',
			async () => Number((await prometheus.query('sum(troupe_function_calls_total{outcome="answered"})'))[0]?.value[1]) >= 2,
		);
		await eventually('rates are known', async () => (await prometheus.query('rate(troupe_api_requests_total[30s])')).length > 0);
		for (const {title, targets: queries = []} of dashboard.panels)
			for (const {expr} of queries) {
				const result = await prometheus.query(filled(expr));
				if (!mayBeEmpty.has(title)) t.true(result.length > 0, `${title}: ${expr}`);
			}
		const rules = await prometheus.alerts();
		t.true(rules.length > 10);
		await eventually('every rule was evaluated', async () => (await prometheus.alerts()).every(({health}) => health === 'ok'));
		t.deepEqual(
			(await prometheus.alerts()).flatMap(({name, alerts}) => alerts.filter(({state}) => state === 'firing').map(() => name)),
			[],
		);

		const bodies = await Promise.all([
			get(`${server.endpoints().web}/metrics`, token),
			get(`${server.endpoints().web}/metrics/nodes/one`, token),
			get(ownPlace.href, readFileSync(path.join(agent.home, 'metrics.token'), 'utf8').trim()),
		]);
		const secrets = [server, agent]
			.flatMap(({home}) => ['admin.token', 'metrics.token'].flatMap(file => read(path.join(home, file))))
			.concat(token);
		for (const {status, text} of bodies) {
			t.is(status, 200);
			t.is(promtool(t, ['check', 'metrics'], text), '');
			for (const secret of secrets) t.false(text.includes(secret));
			t.notRegex(text, /told|shop|authorization|password/i);
		}
		t.regex(bodies[2]?.text ?? '', /^troupe_agent_connected 1$/m);

		await agent.killIt();
		await eventually(
			'the node is seen to be down',
			async () => (await prometheus.query('up{job="troupe-nodes"} == 0')).length === 1,
			undefined,
			60_000,
		);
		t.is((await prometheus.query('up{job="troupe"} == 1')).length, 1);
	},
);

test.serial('a thousand simulated pods make no more series than ten', async t => {
	const cluster = openHome(t);
	await cluster.up('--runtime=simulated', '--simulated-nodes=9', '--store=memory');
	const token = await tokenOf(cluster);
	const scrape = () => get(`${cluster.endpoints().web}/metrics`, token);
	const set = (replicas: number): object => ({
		apiVersion: 'apps/v1',
		kind: 'ReplicaSet',
		metadata: {name: 'many'},
		spec: {
			replicas,
			selector: {matchLabels: {app: 'many'}},
			template: {metadata: {labels: {app: 'many'}}, spec: {containers: [{name: 'main', image: 'none', command: ['sleep', '1000']}]}},
		},
	});
	const withPods = async (count: number): Promise<{readonly bytes: number; readonly series: number}> => {
		await cluster.apply(set(count));
		let text = '';
		await eventually(
			`${count} pods are told of`,
			async () => {
				({text} = await scrape());
				return text.includes(`troupe_objects{kind="Pod",phase="Running"} ${count}\n`);
			},
			() =>
				text
					.split('\n')
					.filter(line => line.includes('kind="Pod"'))
					.join(),
			120_000,
		);
		return {bytes: text.length, series: text.split('\n').filter(line => /^[a-z]/.test(line)).length};
	};
	await withPods(10);
	const few = await withPods(10);
	const many = await withPods(1_000);
	t.log(few, many);
	// What was not counted before has a line for each bucket.
	t.true(many.series - few.series <= 60, `${few.series} and ${many.series}`);
	t.true(many.bytes < 200_000);
	const beganAt = performance.now();
	for (const {status} of await Promise.all(Array.from({length: 50}, scrape))) t.is(status, 200);
	t.log(`50 scrapes at once: ${Math.round(performance.now() - beganAt)} ms`);
});

async function get(url: string, token: string): Promise<{readonly status: number; readonly text: string}> {
	const answer = await fetch(url, {headers: {authorization: `Bearer ${token}`}});
	return {status: answer.status, text: await answer.text()};
}

function read(file: string): readonly string[] {
	try {
		return [readFileSync(file, 'utf8').trim()];
	} catch {
		return [];
	}
}
