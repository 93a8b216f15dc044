// Waits for the end of the process that holds its input, then ends whatever belongs to a folder for temporary files, and removes that.

import {rmSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as after} from 'node:timers/promises';
import {processesOf} from './processes.js';

const [folder = ''] = process.argv.slice(2);
/** What is killed may have begun others in that moment, and the kernel needs one to take it away. */
const rounds = 50;
const roundMs = 20;

process.stdin.resume().once('end', () => void reap());

async function reap(): Promise<void> {
	for (let round = 0; round < rounds; round++) {
		const left = processesOf(folder);
		for (const {pid, words} of left) {
			if (round === 0) process.stdout.write(`left behind by the tests, killed: ${pid} ${words}\n`);
			kill(pid);
		}
		if (left.length === 0) break;
		await after(roundMs);
	}
	rmSync(folder, {recursive: true, force: true, maxRetries: 3});
}

function kill(pid: number): void {
	try {
		process.kill(pid, 'SIGKILL');
	} catch {
		// It has ended.
	}
}
