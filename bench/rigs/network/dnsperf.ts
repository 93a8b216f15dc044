// Questions to a resolver by dnsperf, the same to each: as many as it answers, or a given number a second with the time of each answer.

import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {onOthers} from '../../harness/processors.js';

const run = promisify(execFile);

export type Questions = {
	readonly program: string;
	readonly port: number;
	/** A name and a type a line. */
	readonly file: string;
	readonly seconds: number;
};

export type Answered = {readonly perSecond: number; readonly count: number; readonly lost: number};

/** Questions under way at a time, over how many sockets. */
const outstanding = 100;
const sockets = 4;

/** As many as there are answers to. Rejects when some were no good ones. */
export async function asMany({program, port, file, seconds}: Questions): Promise<Answered> {
	const words = [
		'-s',
		'127.0.0.1',
		'-p',
		String(port),
		'-d',
		file,
		'-l',
		String(seconds),
		'-c',
		String(sockets),
		'-q',
		String(outstanding),
	];
	const {stdout} = await run(...command([program, ...words, '-O', 'suppress=timeout']), {maxBuffer: 64 * 1024 * 1024});
	const figure = (name: string): number => Number(new RegExp(`${name}:\\s+([\\d.]+)`).exec(stdout)?.[1]);
	const count = figure('Queries completed');
	if (Number(/NOERROR (\d+)/.exec(stdout)?.[1]) !== count) throw new Error(`some answers were wrong:\n${stdout}`);
	return {perSecond: figure('Queries per second'), count, lost: figure('Queries lost')};
}

/** The milliseconds that each answer took when so many are asked for a second. */
export async function latencies({program, port, file, seconds}: Questions, perSecond: number): Promise<readonly number[]> {
	const words = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-l', String(seconds), '-Q', String(Math.round(perSecond)), '-v'];
	const {stdout} = await run(...command([program, ...words]), {maxBuffer: 256 * 1024 * 1024});
	return [...stdout.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)].map(([, text]) => Number(text) * 1_000);
}

function command(words: readonly string[]): [string, string[]] {
	const [first = '', ...rest] = [...onOthers, ...words];
	return [first, rest];
}
