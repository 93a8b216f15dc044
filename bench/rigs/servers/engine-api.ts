// The Engine's HTTP API without Troupe, over its socket: the floor under pods of class docker. Connections are kept, as a client would.

import http from 'node:http';

export type EngineApi = {
	/** Rejects with the Engine's words for a status of 400 and more. */
	readonly call: (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;
	/** Calls `hear` for each event of containers until it is closed, and `onEnd` when there will be no more. Rejects when nobody answers. */
	readonly follow: (hear: (event: EngineEvent) => void, onEnd?: () => void) => Promise<() => void>;
	readonly close: () => void;
};

export type EngineEvent = {
	readonly Action: string;
	readonly Actor: {readonly ID: string; readonly Attributes: {readonly [name: string]: string}};
	readonly timeNano: number;
};

export function engineApi(socketPath: string): EngineApi {
	const agent = new http.Agent({keepAlive: true});
	return {
		call: (method, path, body) => call({agent, socketPath}, method, path, body),
		follow: (hear, onEnd = () => undefined) => follow(socketPath, hear, onEnd),
		close: () => agent.destroy(),
	};
}

type Where = {readonly agent: http.Agent; readonly socketPath: string};

function call(where: Where, method: string, path: string, body?: object): Promise<unknown> {
	return new Promise((resolve, reject) => {
		const payload = body === undefined ? '' : JSON.stringify(body);
		const headers = {'content-type': 'application/json', 'content-length': Buffer.byteLength(payload)};
		const request = http.request({...where, method, path, headers}, response => {
			const chunks: Buffer[] = [];
			response.on('data', (chunk: Buffer) => void chunks.push(chunk));
			response.once('error', reject);
			response.once('end', () => {
				const text = Buffer.concat(chunks).toString();
				const {statusCode = 0} = response;
				if (statusCode >= 400) reject(new Error(`${method} ${path}: ${statusCode} ${text}`));
				else resolve(text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text);
			});
		});
		request.once('error', reject);
		request.end(payload);
	});
}

function follow(socketPath: string, hear: (event: EngineEvent) => void, onEnd: () => void): Promise<() => void> {
	return new Promise((resolve, reject) => {
		const path = `/events?filters=${encodeURIComponent(JSON.stringify({type: ['container']}))}`;
		const request = http.get({socketPath, path, agent: false}, response => {
			let rest = '';
			response.setEncoding('utf8');
			response.on('error', () => undefined); // It ends with the daemon.
			response.once('close', onEnd);
			response.on('data', (chunk: string) => {
				const lines = (rest + chunk).split('\n');
				rest = lines.pop() ?? '';
				for (const line of lines) if (line !== '') hear(JSON.parse(line) as EngineEvent);
			});
			resolve(() => void request.destroy());
		});
		request.on('error', reject);
	});
}

const image = 'busybox:latest';
const command = ['sleep', '100000'];

/** A pause container with a network, and one container in it: the shape of a pod. Resolves with their ids. */
export async function startRawPod({call}: EngineApi): Promise<readonly [infra: string, joined: string]> {
	const infra = await startRaw(call, {IpcMode: 'shareable'});
	return [infra, await joinRaw({call}, infra)];
}

/** A container in the network of another one. */
export const joinRaw = ({call}: Pick<EngineApi, 'call'>, infra: string): Promise<string> =>
	startRaw(call, {NetworkMode: `container:${infra}`, IpcMode: `container:${infra}`});

/** One that the Engine starts again by itself. */
export const startKept = ({call}: EngineApi): Promise<string> => startRaw(call, {RestartPolicy: {Name: 'always'}});

async function startRaw(call: EngineApi['call'], hostConfig: object): Promise<string> {
	const {Id} = (await call('POST', '/containers/create', {Image: image, Cmd: command, StopSignal: 'SIGKILL', HostConfig: hostConfig})) as {
		Id: string;
	};
	await call('POST', `/containers/${Id}/start`);
	return Id;
}

export const pidOfContainer = async ({call}: EngineApi, id: string): Promise<number> =>
	((await call('GET', `/containers/${id}/json`)) as {State: {Pid: number}}).State.Pid;

export const removeRaw = async ({call}: EngineApi, ids: readonly string[]): Promise<void> => {
	for (const id of [...ids].reverse()) await call('DELETE', `/containers/${id}?force=1`);
};

/** Runs so many at a time. */
export async function inParallel<Value>(count: number, width: number, run: (index: number) => Promise<Value>): Promise<readonly Value[]> {
	const results: Value[] = [];
	let begun = 0;
	const worker = async (): Promise<void> => {
		while (begun < count) {
			const index = begun++;
			results[index] = await run(index);
		}
	};
	await Promise.all(Array.from({length: width}, worker));
	return results;
}
