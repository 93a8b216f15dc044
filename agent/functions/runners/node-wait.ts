// A runner in a container that was made before its pod was known: it waits at a socket of its agent for one line (agent/docker/runners/told.ts), and
// has nothing of a user's before that. The end of the agent is its own.

import {connect} from 'node:net';
import type {RunnerConfig} from './runner-config.js';

/** Waits to be the runner of a pod, takes its environment, and gives its configuration. */
export function toldAt(path: string): Promise<RunnerConfig> {
	return new Promise(resolve => {
		const agent = connect(path);
		const end = (): void => process.exit(0);
		let said = '';
		agent.setEncoding('utf8');
		agent.once('connect', () => agent.write('ready\n'));
		agent.on('error', end).once('end', end);
		agent.on('data', (piece: string) => {
			said += piece;
			if (!said.endsWith('\n')) return;
			const {env, config} = JSON.parse(said) as {readonly env: NodeJS.ProcessEnv; readonly config: RunnerConfig};
			Object.assign(process.env, env);
			agent.off('end', end).off('error', end);
			// It may be gone: what it knows of this is its own affair.
			agent.on('error', () => undefined);
			agent.end('taken\n', () => agent.destroy());
			resolve(config);
		});
	});
}
