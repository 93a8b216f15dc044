// Requests of HTTP by wrk, the same to each server: as many as are answered, with the time that they took.

import {execFile} from 'node:child_process';
import {promisify} from 'node:util';

const run = promisify(execFile);

export type Load = {
	readonly program: string;
	/** The words before the command, as of processors or a network namespace. */
	readonly before: readonly string[];
	readonly url: string;
	readonly connections: number;
	readonly seconds: number;
	readonly headers?: readonly string[];
};

export type Loaded = {readonly perSecond: number; readonly count: number; readonly p50Ms: number; readonly p99Ms: number};

/** On one thread. Rejects when an answer was no good one, or a connection failed. */
export async function wrk({program, before, url, connections, seconds, headers = []}: Load): Promise<Loaded> {
	const words = ['--latency', '-t', '1', '-c', String(connections), '-d', `${seconds}s`, ...headers.flatMap(header => ['-H', header]), url];
	const [first = '', ...rest] = [...before, program, ...words];
	const {stdout} = await run(first, rest);
	const failed = /Socket errors:.*|Non-2xx or 3xx responses:.*/.exec(stdout)?.[0];
	if (failed !== undefined) throw new Error(`${url}: ${failed}`);
	return {
		perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
		count: Number(/(\d+) requests in/.exec(stdout)?.[1]),
		p50Ms: percentileIn(stdout, 50),
		p99Ms: percentileIn(stdout, 99),
	};
}

const milliseconds = {us: 0.001, ms: 1, s: 1_000, m: 60_000} as const;

function percentileIn(text: string, percent: number): number {
	const [, value, unit] = new RegExp(`^\\s+${percent}%\\s+([\\d.]+)(us|ms|s|m)$`, 'm').exec(text) ?? [];
	return Number(value) * milliseconds[unit as keyof typeof milliseconds];
}
