// `node rules-seen-program.js`, on a host: says in a line which endpoints the rules of its node lead to whenever those were changed:
// `[time, [address, ...]]`, the time in milliseconds of the clock that all processes of a machine share, when they had been read. It ends with its input.

import {execFile, spawn} from 'node:child_process';

const nft = '/usr/sbin/nft';
let before = '';
let isReading = false;
let isStale = false;

function read(): void {
	isStale = isReading;
	if (isReading) return;
	isReading = true;
	execFile(nft, ['list', 'ruleset', 'inet'], {maxBuffer: 67_108_864}, (error, text) => {
		isReading = false;
		// While they change it may not get hold of them.
		if (error !== null) return void setTimeout(read, 1);
		const addresses = [
			...new Set([...text.matchAll(/\b(10\.244\.\d+\.\d+)(?::| \. )\d+(?![\d.])/g)].map(([, address = '']) => address)),
		].sort();
		if (addresses.join() !== before) {
			before = addresses.join();
			process.stdout.write(`${JSON.stringify([Number(process.hrtime.bigint()) / 1e6, addresses])}\n`);
		}
		if (isStale) read();
	});
}

// Into a pipe it would write by the block.
const monitor = spawn('stdbuf', ['-oL', nft, 'monitor', 'rules'], {stdio: ['ignore', 'pipe', 'inherit']});
monitor.stdout.on('data', read);
monitor.once('exit', code => {
	throw new Error(`nft monitor ended with ${code}`);
});
process.stdin.resume().on('end', () => {
	monitor.kill();
	process.exit();
});
read();
