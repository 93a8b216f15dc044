// Runs disturbances on a fleet of its own: a server and some nodes, each in a network namespace. Needs root and iproute2.

import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import type {Owner} from '../owner.js';
import {killAll} from '../cluster/processes.js';
import {layNetwork} from './network.js';
import {relayHost, serverHost, type DisturbanceName, type LinkQuality, type Run, type Task} from './run.js';

const five = 5;

/** Tells each run as soon as it is over. Rejects with what the program said when it could not go on. */
export async function disturb(
	owner: Owner,
	disturbances: readonly DisturbanceName[],
	runs: number,
	onRun: (run: Run) => void,
	{nodes = five, link}: {readonly nodes?: number; readonly link?: LinkQuality} = {},
): Promise<void> {
	const hosts = [serverHost, ...Array.from({length: nodes}, (_, index) => `n${index + 1}`), ...(link === undefined ? [] : [relayHost])];
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-fleet-'));
	owner.teardown(async () => {
		await killAll(folder);
		rmSync(folder, {recursive: true, force: true, maxRetries: 5});
	});
	const prefix = `tr${process.pid}`;
	const network = layNetwork(owner, prefix, hosts);
	const task: Task = {prefix, folder, hosts, disturbances, runs, link};
	const [command = '', ...words] = network.on(serverHost);
	const program = path.join(import.meta.dirname, 'program.js');
	const child = spawn(command, [...words, process.execPath, '--enable-source-maps', program, JSON.stringify(task)], {
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	owner.teardown(() => void child.kill('SIGKILL'));
	let said = '';
	child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-10_000)));
	createInterface({input: child.stdout}).on('line', line => onRun(JSON.parse(line) as Run));
	const code = await new Promise<number | null>((resolve, reject) => {
		child.once('error', reject);
		child.once('close', resolve);
	});
	if (code !== 0) throw new Error(`the fleet ended with ${String(code)}: ${said}`);
}
