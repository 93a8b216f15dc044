// A program of its own that counts which pods of an Engine answer, those with a container of a name: `node _answers.js SOCKET CONTAINER`, in the Engine's network namespace.
//
// It knows nothing of the cluster: addresses come from the Engine and the kernel, and each is asked over HTTP. A line of JSON a sample.

import {execFileSync} from 'node:child_process';
import {request} from 'node:http';

type Listed = readonly {
	readonly Id: string;
	readonly Labels?: {readonly [name: string]: string};
	readonly HostConfig?: {readonly NetworkMode?: string};
}[];

const [, , socketPath = '', container = ''] = process.argv;

function get(options: object): Promise<string | undefined> {
	return new Promise(resolve => {
		const sent = request({...options, agent: false, timeout: 500}, response => {
			let text = '';
			response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
			response.on('end', () => resolve(text)).on('error', () => resolve(undefined));
		});
		sent.on('timeout', () => sent.destroy());
		sent.on('error', () => resolve(undefined));
		sent.end();
	});
}

const prefix = 'container:';
const known = new Map<string, string>();

/** The address of a container in its own network namespace; undefined while it has none. It keeps it for its life. */
async function addressOf(id: string): Promise<string | undefined> {
	const address = known.get(id);
	if (address !== undefined) return address;
	const {State} = JSON.parse((await get({socketPath, path: `/containers/${id}/json`})) ?? '{}') as {State?: {Pid?: number}};
	if (State?.Pid === undefined || State.Pid === 0) return undefined;
	try {
		const words = [`--net=/proc/${State.Pid}/ns/net`, 'ip', '-4', '-oneline', 'address', 'show', 'scope', 'global'];
		const found = /inet ([\d.]+)/.exec(execFileSync('nsenter', words, {encoding: 'utf8', stdio: 'pipe'}))?.[1];
		if (found !== undefined) known.set(id, found);
		return found;
	} catch {
		return undefined; // It has just ended.
	}
}

/** Of the pods that have such a container: those of what it is joined to. */
async function addresses(): Promise<readonly string[]> {
	const listed = JSON.parse((await get({socketPath, path: '/containers/json'})) ?? '[]') as Listed;
	const modes = listed
		.filter(({Labels}) => Labels?.['troupe.dev/container'] === container)
		.map(({HostConfig}) => HostConfig?.NetworkMode ?? '');
	const found = await Promise.all(modes.filter(mode => mode.startsWith(prefix)).map(mode => addressOf(mode.slice(prefix.length))));
	return found.filter(address => address !== undefined);
}

/** Pods by what they answer. Those that are silent are asked once more: one may have begun while another one was just asked. */
async function sample(): Promise<{readonly [version: string]: number}> {
	const answers = new Map<string, string>();
	for (let round = 0; round < 2; round++) {
		const silent = (await addresses()).filter(address => !answers.has(address));
		const found = await Promise.all(silent.map(async host => ({host, answer: await get({host, port: 8080, path: '/'})})));
		for (const {host, answer} of found) if (answer !== undefined) answers.set(host, answer.trim());
	}
	const counts: {[version: string]: number} = {};
	for (const version of [...answers.values()].sort()) counts[version] = (counts[version] ?? 0) + 1;
	return counts;
}

process.stdout.on('error', () => process.exit(0));
for (;;) process.stdout.write(`${JSON.stringify(await sample())}\n`);
