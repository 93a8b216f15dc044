// Programs of the base system that stand between an agent and a container, where this host has them.

import {execFile, spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {limits} from '../../api/limits.js';

const folders = ['/usr/bin', '/usr/sbin', '/bin', '/sbin'];

/** Absolute; undefined where this host has none. */
export const findTool = (name: string): string | undefined => folders.map(folder => `${folder}/${name}`).find(file => existsSync(file));

/** Runs one to its end. Rejects with an Error that says what it said. */
export const runTool = (name: string, words: readonly string[]): Promise<void> =>
	new Promise((resolve, reject) => {
		execFile(findTool(name) ?? name, words, {cwd: '/', env: {}}, (error, _stdout, stderr) => {
			if (error === null) resolve();
			else reject(new Error(stderr.trim().split('\n')[0] || error.message));
		});
	});

/** Tries what these words do on this host: their exit code; null where there is none in time. They get nothing of the agent. */
export const codeOf = ([program = '', ...words]: readonly string[]): number | null =>
	spawnSync(program, words, {stdio: 'ignore', env: {}, cwd: '/', timeout: limits.probeMs}).status;
