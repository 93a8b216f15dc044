// A compose file of ten services, brought up and taken down by `troupe` and by docker-compose in turn, on one daemon.
//
// docker-compose is done when its command ends: then its containers run. `troupe apply` is done when a watch of the API says that all pods run.

import {execFile} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import type {Benchmark} from './harness/benchmark.js';
import {within} from './harness/deadline.js';
import {pause} from './harness/pause.js';
import {ratios} from './harness/table.js';
import {startCluster, temporaryFolder, temporaryHome} from './rigs/cluster/cluster.js';
import {watchPods, type SeenPod} from './rigs/cluster/objects.js';
import {main} from './rigs/main-file.js';
import {startDockerd} from './rigs/servers/dockerd.js';

const run = promisify(execFile);

const defaultRounds = 5;
const services = 10;
const deadlineMs = 120_000;
/** What a removal leaves behind is over before the next turn. */
const betweenMs = 1_000;

/** Some wait for others, some have a volume, a port or an environment, as people's files do. */
const file = `services:
${Array.from(
	{length: services},
	(_, i) => `  service-${i}:
    image: busybox:latest
    command: [sleep, "1000000"]
    stop_grace_period: 0s
    environment: {NUMBER: "${i}"}
${i % 5 === 0 ? `    ports: ["${18_080 + i}:80"]\n` : ''}${i % 5 === 4 ? `    volumes: ["data-${i}:/data"]\n` : ''}${i >= 8 ? '    depends_on: [service-0]\n' : ''}`,
).join('')}volumes:
  data-4:
  data-9:
`;

export const composeBenchmark: Benchmark = {
	name: 'compose',
	about: `a compose file of ${services} services beside docker-compose`,
	async run({rounds = defaultRounds}, scope) {
		const daemon = await startDockerd({teardown: scope.defer});
		const home = temporaryHome(scope);
		const folder = path.join(temporaryFolder(scope, 'compose'), 'shop');
		mkdirSync(folder);
		const composeFile = path.join(folder, 'compose.yaml');
		writeFileSync(composeFile, file);
		const {client} = await startCluster(scope, home, {flags: ['--runtime=docker', `--docker=${daemon.url}`]});
		const watch = await watchPods(client, '');
		scope.defer(() => watch.close());
		const environment = {PATH: process.env['PATH'], HOME: home, DOCKER_HOST: daemon.url, TROUPE_HOME: home};
		const timed = async (program: string, words: readonly string[], isDone: () => Promise<unknown> = () => Promise.resolve()) => {
			const startedAt = performance.now();
			await run(program, words, {env: environment});
			await isDone();
			return performance.now() - startedAt;
		};
		const compose = (...words: readonly string[]): Promise<number> => timed('docker-compose', ['-f', composeFile, ...words]);
		const until = (what: string, isSo: (pods: ReadonlyMap<string, SeenPod>) => boolean) => () =>
			within(deadlineMs, what, watch.until(isSo));
		const troupe = (words: readonly string[], isDone: () => Promise<void>): Promise<number> =>
			timed(process.execPath, [main, ...words, '-f', composeFile], isDone);
		const allRun = until(
			'all pods to run',
			pods => pods.size === services && [...pods.values()].every(pod => pod.status?.phase === 'Running'),
		);
		const [theirUp, theirDown, ourUp, ourDown]: [number[], number[], number[], number[]] = [[], [], [], []];
		for (let round = 0; round < rounds; round++) {
			theirUp.push(await compose('up', '--detach'));
			theirDown.push(await compose('down', '--volumes'));
			await pause(betweenMs);
			ourUp.push(await troupe(['apply'], allRun));
			ourDown.push(
				await troupe(
					['delete'],
					until('all pods to go', pods => pods.size === 0),
				),
			);
			await pause(betweenMs);
		}
		return [
			{what: 'docker-compose up --detach', values: theirUp, unit: 'ms'},
			{what: 'troupe apply, until all pods run', values: ourUp, unit: 'ms'},
			{what: 'up: troupe / docker-compose', values: ratios(ourUp, theirUp), unit: 'x'},
			{what: 'docker-compose down --volumes', values: theirDown, unit: 'ms'},
			{what: 'troupe delete, until no pod is left', values: ourDown, unit: 'ms'},
			{what: 'down: troupe / docker-compose', values: ratios(ourDown, theirDown), unit: 'x'},
		];
	},
};
