// `endpoints.json`: where the running cluster of a home listens, and which process it is. And what a person is told about it.

import {readFileSync} from 'node:fs';
import {homeOf} from './home.js';

export type Endpoints = {
	/** `https://127.0.0.1:6443`. */
	readonly api: string;
	/** `http://127.0.0.1:7070`. */
	readonly web: string;
	/** `mqtt://127.0.0.1:1883`. */
	readonly mqtt: string;
	readonly pid: number;
};

/** What the file says; undefined when there is none, or when it is no such thing. */
export function readEndpoints(home: string): Endpoints | undefined {
	try {
		const value = JSON.parse(readFileSync(homeOf(home).endpoints, 'utf8')) as Partial<Endpoints> | null;
		const {api, web, mqtt, pid} = value ?? {};
		if (typeof api !== 'string' || typeof web !== 'string' || typeof mqtt !== 'string') return undefined;
		return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1 ? {api, web, mqtt, pid} : undefined;
	} catch {
		return undefined; // No file, or one that is being written by something else than us: the same to whoever asks.
	}
}

/** What `up` prints when the cluster is ready; `up --detach` prints the same. `command` is how this command was called. */
export function readyText(home: string, {api, web, mqtt, pid}: Endpoints, detached: boolean, command = './troupe'): string {
	const files = homeOf(home);
	const ending = detached
		? `it runs in the background (process ${pid}); ${command} down stops it`
		: `Ctrl-C stops it; pods run on, ${command} down --pods stops those too`;
	return [
		'the cluster is ready',
		`  api    ${api}`,
		`  web    ${web}`,
		`  mqtt   ${mqtt}`,
		`  home   ${home}`,
		`  log    ${files.log}`,
		'',
		ending,
		`next, in ${detached ? 'this' : 'another'} terminal:`,
		`  ${command} apply -f examples/hello.yaml`,
		`  ${command} get pods`,
		'',
	].join('\n');
}
