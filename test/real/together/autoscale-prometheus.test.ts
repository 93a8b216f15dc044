// Debian's Prometheus (prometheus) as the source of an autoscaler's metrics: up, down to none, and what is said where it may not be asked or is gone.

import {spawn} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {autoscaler, deployment, hpaOf, patienceMs, podsOf, untilThereAre} from '../../e2e/_autoscaling.js';
import {follow, openHome, type Home} from '../../e2e/_rig.js';

const listening = async (t: ExecutionContext, text: () => string): Promise<number> => {
	const server = createServer((_, response) => void response.writeHead(200, {'content-type': 'text/plain; version=0.0.4'}).end(text()));
	await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		server.closeAllConnections();
		server.close();
	});
	return (server.address() as AddressInfo).port;
};

/** Starts one that scrapes this port each second. */
async function openPrometheus(t: ExecutionContext, {folder: parent}: Home, scraped: number) {
	const folder = path.join(parent, 'prometheus');
	mkdirSync(folder);
	const config = {
		global: {scrape_interval: '1s', evaluation_interval: '1s'},
		scrape_configs: [{job_name: 'jobs', static_configs: [{targets: [`127.0.0.1:${scraped}`]}]}],
	};
	// JSON is YAML.
	writeFileSync(path.join(folder, 'prometheus.yml'), JSON.stringify(config));
	const flags = ['--config.file=prometheus.yml', '--web.listen-address=127.0.0.1:0', `--storage.tsdb.path=${path.join(folder, 'data')}`];
	const child = spawn('prometheus', flags, {cwd: folder, stdio: ['ignore', 'pipe', 'pipe']});
	t.teardown(() => void child.kill('SIGKILL'));
	const started = follow(child, '');
	const said = await started.notes(/Server is ready to receive web requests/);
	const [, port = ''] = /Listening on.*address=127\.0\.0\.1:(\d+)/.exec(said) ?? [];
	return {host: `127.0.0.1:${port}`, kill: () => void child.kill('SIGKILL')};
}

test('autoscalers go by what a Prometheus answers, for all and for each pod, as long as they may ask it and it is there', async t => {
	t.timeout(4 * patienceMs);
	const home = openHome(t);
	await home.up();
	const untilSaid = async (app: string, words: RegExp): Promise<void> => {
		let said = '';
		await eventually(
			`it says ${String(words)}`,
			async () => words.test((said = (await hpaOf(app, home)).conditions?.find(({type}) => type === 'ScalingActive')?.message ?? '')),
			() => said,
			patienceMs,
		);
	};
	let jobs = 12;
	const open = new Map<string, number>();
	const figures = (): string =>
		[
			`jobs_waiting{queue="a"} ${jobs}`,
			'jobs_waiting{queue="b"} 3',
			...[...open].map(([pod, value]) => `open{pod="${pod}",namespace="default"} ${value}`),
			'',
		].join('\n');
	const {host, kill} = await openPrometheus(t, home, await listening(t, figures));
	const source = (query: string): object => ({prometheus: {url: `http://${host}`, query}});
	await home.apply(
		deployment('queue', 1),
		autoscaler('queue', {
			type: 'External',
			external: {
				metric: {name: 'jobs_waiting'},
				target: {type: 'AverageValue', averageValue: '5'},
				source: source('clamp_min(jobs_waiting - 3, 0)'),
			},
		}),
		deployment('each', 1),
		autoscaler(
			'each',
			{
				type: 'Pods',
				pods: {metric: {name: 'open'}, target: {type: 'AverageValue', averageValue: '10'}, source: source('open')},
			},
			{minReplicas: 1},
		),
	);
	await untilSaid(
		'queue',
		/this cluster does not let autoscalers ask "127\.0\.0\.1:\d+": .* troupe config set autoscaling\.prometheusHosts 127\.0\.0\.1:\d+ /,
	);
	t.is((await podsOf('queue', home)).length, 1);
	await home.fine('config', 'set', 'autoscaling.prometheusHosts', host);
	await untilThereAre('queue', 2, home);
	t.regex(await home.fine('describe', 'hpa', 'queue'), /1 -> 2 +jobs_waiting: 9\/5 \(avg\) +external metric jobs_waiting above target/);
	jobs = 3;
	await untilThereAre('queue', 0, home);
	jobs = 23;
	await untilThereAre('queue', 4, home);

	await untilSaid('each', /nothing in the answer is of a pod that runs|no series/);
	const [first] = await podsOf('each', home);
	open.set(first?.metadata.name ?? '', 30);
	await untilThereAre('each', 3, home);
	for (const {metadata} of await podsOf('each', home)) open.set(metadata.name, 1);
	await untilThereAre('each', 1, home);

	kill();
	await untilSaid('queue', /Prometheus at 127\.0\.0\.1:\d+ cannot be asked: connect ECONNREFUSED/);
	t.is((await podsOf('queue', home)).length, 4);
	t.regex(await home.fine('why', 'hpa/queue'), /does not know what it scales by/);
});
