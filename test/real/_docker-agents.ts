// Agents of Docker in processes of their own, one after the other over one home.

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import path from 'node:path';
import type {Outcome} from '../../api/errors.js';
import type {RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import type {Dockerd} from '../../bench/rigs/servers/dockerd.js';
import type {Owner} from '../../bench/rigs/owner.js';

export type DockerAgent = {
	readonly run: (
		command: RuntimeCommand | {readonly type: 'lease.for'; readonly uid: string; readonly ms: number},
	) => Promise<Outcome<unknown>>;
	/** SIGKILL. What was asked and is not answered is never answered. */
	readonly kill: () => Promise<void>;
};

export function startDockerAgent(t: Owner, {socketPath}: Dockerd, directory: string, options: object = {}): DockerAgent {
	const program = path.join(import.meta.dirname, '../agent/docker-agent.js');
	const words = [program, JSON.stringify({directory, address: {socketPath}, ...options})];
	const child = spawn(process.execPath, words, {stdio: ['pipe', 'pipe', 'inherit']});
	const gone = once(child, 'exit');
	const waiting: ((outcome: Outcome<unknown>) => void)[] = [];
	createInterface({input: child.stdout}).on('line', line => waiting.shift()?.(JSON.parse(line) as Outcome<unknown>));
	const kill = async (): Promise<void> => {
		child.kill('SIGKILL');
		await gone;
	};
	t.teardown(kill);
	return {
		run: command =>
			new Promise(resolve => {
				waiting.push(resolve);
				child.stdin.write(`${JSON.stringify(command)}\n`);
			}),
		kill,
	};
}
