// What nvidia-smi says of the GPUs of a host. It is asked and never waited for: one that hangs, fails or talks nonsense is as none.

import {execFile} from 'node:child_process';
import {limits} from '../../api/limits.js';
import {createDeferred} from '../../system/time/deferred.js';

/** By the number of its device file the name that the driver gives a GPU everywhere. */
export type GpuNames = ReadonlyMap<number, string>;

/** No more than it takes to see that it is one: it becomes a variable of a program. */
const uuidLine = /^\s+GPU UUID\s*:\s*(GPU-[0-9A-Fa-f-]{1,64})\s*$/;
const minorLine = /^\s+Minor Number\s*:\s*(\d{1,4})\s*$/;

/** Of `nvidia-smi -q`: the GPUs of which it tells both; those that it cannot reach are not among them. */
export function gpuNamesIn(text: string): GpuNames {
	const names = new Map<number, string>();
	let uuid: string | undefined;
	for (const line of text.split('\n')) {
		if (/^GPU \S+$/.test(line.trimEnd())) uuid = undefined;
		const [, named] = uuidLine.exec(line) ?? [];
		const [, minor] = minorLine.exec(line) ?? [];
		if (named !== undefined) uuid = named;
		// It says the number after the name.
		if (minor !== undefined && uuid !== undefined && names.size < limits.nodeGpus) names.set(Number(minor), uuid);
	}
	return names;
}

export type GpuQuestion = {
	/** Undefined: it told of none, is broken, or did not end in time. */
	readonly answer: Promise<GpuNames | undefined>;
	/** Nobody waits for it any more. */
	readonly drop: () => void;
};

export function askGpuNames(program: string): GpuQuestion {
	const {promise, resolve} = createDeferred<GpuNames | undefined>();
	const bounds = {timeout: limits.gpuLookMs, killSignal: 'SIGKILL', maxBuffer: limits.gpuLookBytes} as const;
	const child = execFile(program, ['-q'], {cwd: '/', env: {}, encoding: 'latin1', ...bounds}, (error, stdout) => {
		const names = error === null ? gpuNamesIn(stdout) : undefined;
		resolve(names === undefined || names.size === 0 ? undefined : names);
	});
	child.stdin?.on('error', () => undefined);
	child.stdin?.end();
	return {
		answer: promise,
		drop() {
			// One that the kernel holds up does not end, whatever it is sent.
			child.unref();
			child.stdout?.destroy();
			child.stderr?.destroy();
			child.kill('SIGKILL');
		},
	};
}
