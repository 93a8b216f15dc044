// The port at which the program of an instance takes calls. It is written down beside the pod's folder, where no program of the pod writes, before the
// attempt that is told it begins.

import {readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import net from 'node:net';
import {functionPort} from '../../api/function-instance.js';
import {limits} from '../../api/limits.js';
import type {EnvVariable} from '../../actors/node/runtime/runtime-port.js';
import {valueOrFor} from '../../system/files/errno.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import type {CallsEnd} from './when-listens.js';

const fileOf = (home: string): string => `${home}.port`;

/** Undefined: its calls are taken by a runner. Throws errno exceptions, as the next one. */
export function portIn(home: string): number | undefined {
	const text = valueOrFor('', ['ENOENT'], () => readFileSync(fileOf(home), 'utf8'));
	return /^\d{1,5}$/.test(text) ? Number(text) : undefined;
}

/** There at once and whole: this process may be killed in between. */
export function writePort(home: string, port: number): void {
	const first = `${fileOf(home)}.new`;
	rmSync(first, {force: true});
	writeFileSync(first, String(port), {mode: 0o600});
	renameSync(first, fileOf(home));
}

/** Where pods share the network of their node one that nobody has now: another program of the node may be faster, and then the next attempt has another one. */
export const choosePort = (isShared: boolean): Promise<number> => (isShared ? freePort() : Promise.resolve(functionPort));

function freePort(): Promise<number> {
	return new Promise((resolve, reject) => {
		const server = net.createServer().once('error', reject);
		// On all addresses, as most programs listen.
		server.listen(0, () => {
			const address = server.address();
			const port = typeof address === 'object' && address !== null ? address.port : functionPort;
			server.close(() => resolve(port));
		});
	});
}

/** Whatever its environment says of it. */
export const withPort = (env: readonly EnvVariable[], port: number): readonly EnvVariable[] => [
	...env.filter(({name}) => name !== 'PORT'),
	{name: 'PORT', value: String(port)},
];

/** The end of calls that a program is. Nobody tells when it listens: it is looked at, less and less often. */
export const programEnd = (port: number, connect: CallsEnd['connect'], clock: Clock): CallsEnd => ({
	connect,
	watch(look) {
		let pauseMs = 5;
		let cancel: Cancel = () => undefined;
		const wait = (): void => {
			cancel = clock.after(pauseMs, () => {
				pauseMs = Math.min(2 * pauseMs, limits.functionPortLookMs);
				look();
				wait();
			});
		};
		wait();
		return () => cancel();
	},
	late: `its program took no connections at its PORT, ${port},`,
	ended: 'its program ended before it took calls',
});
