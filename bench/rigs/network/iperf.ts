// Bytes over TCP by iperf3, the same to each server: how many pass in a second.

import {execFile} from 'node:child_process';
import {promisify} from 'node:util';

const run = promisify(execFile);

export type Transfer = {
	readonly program: string;
	/** The words before the command, as of a network namespace. */
	readonly before: readonly string[];
	readonly address: string;
	readonly port: number;
	readonly seconds: number;
	readonly connections: number;
};

/** Megabytes a second that arrived, over all connections together. Rejects with what iperf3 says when it cannot. */
export async function megabytesPerSecond({program, before, address, port, seconds, connections}: Transfer): Promise<number> {
	const words = ['--client', address, '--port', String(port), '--time', String(seconds), '--parallel', String(connections), '--json'];
	const [first = '', ...rest] = [...before, program, ...words];
	const {stdout} = await run(first, rest, {maxBuffer: 64 * 1024 * 1024});
	const {end, error} = JSON.parse(stdout) as {end?: {sum_received?: {bits_per_second: number}}; error?: string};
	if (end?.sum_received === undefined) throw new Error(`iperf3 to ${address}:${port}: ${error ?? 'it says nothing'}`);
	return end.sum_received.bits_per_second / 8e6;
}
