// An agent of Docker in a process of its own, to be killed: does the commands that stand in lines of its input, one after the other, and says what
// came of each. Its options are its only argument; `archives` is a folder with the code of functions.

import {createInterface} from 'node:readline';
import {archiveIn} from './functions/_instance.js';
import {createDockerRuntime, type DockerRuntimeOptions} from '../../agent/docker-runtime.js';
import type {RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import {systemClock} from '../../system/time/clock.js';

const {archives, ...options} = JSON.parse(process.argv[2] ?? '{}') as Omit<DockerRuntimeOptions, 'clock'> & {readonly archives?: string};
const artifacts = archives === undefined ? undefined : {ensure: (digest: string) => Promise.resolve(archiveIn(archives, digest))};
const runtime = createDockerRuntime({
	...options,
	artifacts,
	clock: systemClock,
	onWarning: message => process.stderr.write(`${message}\n`),
});

/** A lease is said by how long it lasts: two processes have two monotonic clocks. */
type Line = RuntimeCommand | {readonly type: 'lease.for'; readonly uid: string; readonly ms: number};

for await (const line of createInterface({input: process.stdin})) {
	const said = JSON.parse(line) as Line;
	const command: RuntimeCommand =
		said.type === 'lease.for' ? {type: 'lease.extend', uid: said.uid, untilMs: systemClock.monotonicMs() + said.ms} : said;
	const outcome = await new Promise(resolve => runtime.run(command, resolve));
	process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
