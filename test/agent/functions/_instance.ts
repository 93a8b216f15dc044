// A node of real processes that has the code of functions, and what tests do to instances: start them, wait until they serve, call them.

import {chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import type {Socket} from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import type {FunctionInstance, FunctionRuntime} from '../../../api/function-instance.js';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import type {ContainerSpec, RunningContainer} from '../../../actors/node/runtime/runtime-port.js';
import type {ProcessRuntimeOptions} from '../../../agent/process-runtime.js';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {archiveBounds} from '../../../system/archive/bounds.js';
import {packFolder} from '../../../system/archive/pack.js';
import {processWorld} from '../process-world.js';
import {aSandbox} from '../_sandbox.js';
import {aContainer, driver} from '../runtime-contract.js';
import {answerOf, type Answer} from './_runner.js';

type Files = Readonly<Record<string, string>>;

export type InstanceSpec = Partial<Omit<ContainerSpec, 'function' | 'id'>> & Partial<Omit<FunctionInstance, 'artifact' | 'runtime'>>;

/** Where the code of a digest is in a folder of archives. */
export const archiveIn = (folder: string, digest: string): string => path.join(folder, digest.replace(':', '-'));

/** Archives in a folder, by their digests. */
export function anArchive(t: ExecutionContext) {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-artifacts-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	const fileOf = (digest: string): string => archiveIn(folder, digest);
	return {
		folder,
		fileOf,
		/** What begins with `#!` may be executed. */
		async add(files: Files): Promise<string> {
			const code = mkdtempSync(path.join(folder, 'code-'));
			for (const [name, text] of Object.entries(files)) {
				mkdirSync(path.dirname(path.join(code, name)), {recursive: true});
				writeFileSync(path.join(code, name), text);
				if (text.startsWith('#!')) chmodSync(path.join(code, name), 0o755);
			}
			const {digest, bytes} = await packFolder(code, archiveBounds);
			writeFileSync(fileOf(digest), bytes);
			return digest;
		},
	};
}

/** Whether the runners of instances begin for their pods, or have waited for them. */
export type Way = 'cold' | 'warm';

/** Whether the process is a runner that waits, or has waited. */
export function isWarm(pid: number): boolean {
	const [, first = '', ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
	return (first === '-I' || first.endsWith('/node-runner.js')) && words.includes('--warm');
}

const returning: Readonly<Record<FunctionLanguage, Files>> = {
	python: {'func.py': 'def main(params):\n    return params\n'},
	nodejs: {'func.mjs': 'export default params => params;\n'},
};

/** The process that waits, of the runtime of a directory: by the name of its log, which is open there. */
export function waitingIn(directory: string): readonly number[] {
	const isOf = (pid: string): boolean => {
		try {
			return readlinkSync(`/proc/${pid}/fd/1`).startsWith(path.join(directory, '.warm/')) && isWarm(Number(pid));
		} catch {
			return false;
		}
	};
	return readdirSync('/proc')
		.filter(name => /^\d+$/.test(name) && isOf(name))
		.map(Number);
}

export function functionNode(t: ExecutionContext, {warmRunners = 0, ...options}: Partial<ProcessRuntimeOptions> = {}) {
	const archive = anArchive(t);
	/** Digests that were asked for, in order. */
	const fetched: string[] = [];
	const ensure = (digest: string): Promise<string> => {
		fetched.push(digest);
		return Promise.resolve(archive.fileOf(digest));
	};
	const world = processWorld(clean => t.teardown(clean), {artifacts: {ensure}, warmRunners, ...options});
	const node = driver(world);

	const specOf = (uid: string, artifact: string | undefined, runtime: FunctionRuntime, rest: InstanceSpec = {}): ContainerSpec => {
		const {concurrency = 8, timeoutMs = 60_000, ...others} = rest;
		return aContainer('runs', {
			uid,
			container: 'function',
			image: '',
			argv: [],
			function: {...(artifact === undefined ? {} : {artifact}), runtime, concurrency, timeoutMs},
			...others,
		});
	};
	const loaded = (uid: string, timeoutMs = 30_000) => node.act({uid, container: 'function'}, {type: 'runnerListens'}, timeoutMs);

	/** The sandbox of an instance, as an agent asks for it. */
	const ensureInstance = (
		uid: string,
		runtime: FunctionRuntime,
		{memoryLimitBytes}: InstanceSpec = {},
		controller = `default/Pod/pod-${uid}`,
	) => {
		const runner = runtime === 'program' ? undefined : {language: runtime, image: 'function', memoryLimitBytes};
		const spec = aSandbox(uid, {controller, ...(runner === undefined ? {} : {runner})});
		return node.value(node.run<'sandbox.ensure'>({type: 'sandbox.ensure', spec}));
	};
	const serve = async (uid: string, runtime: FunctionRuntime, files: Files, rest: InstanceSpec = {}): Promise<RunningContainer> => {
		await ensureInstance(uid, runtime, rest);
		const running = await node.start(specOf(uid, await archive.add(files), runtime, rest));
		const {ok, message} = await node.value(loaded(uid));
		if (!ok) throw new Error(message);
		return running;
	};
	const whenWarm = (count = 1): Promise<void> =>
		eventually(
			`${count} runners to wait`,
			() => world.runtime().warmRunners() >= count,
			() => world.warnings.join('\n'),
		);

	return {
		...node,
		world,
		fetched,
		archive,
		specOf,
		loaded,
		ensureInstance,
		/** Has an instance of these files run and serve. */
		serve,
		/** Resolves when so many runners wait: on a node where an instance of their language was begun. */
		whenWarm,
		/** Has the node know that instances of that language are begun there. */
		warmUp: async (count = 1, language: FunctionLanguage = 'python', rest: InstanceSpec = {}): Promise<void> => {
			await serve('first', language, returning[language], rest);
			fetched.length = 0;
			await whenWarm(count);
		},
		/** Over a connection of this process. */
		call: async (uid: string, params: unknown): Promise<Answer> => callOver(await world.runtime().connectFunction(uid), params),
		/** Over a session: the bytes of the answer, and how the session ended. */
		callBySession: async (uid: string, params: unknown): Promise<{readonly stdout: string; readonly exitCode: number}> => {
			const {session} = await node.value(node.run<'forward.open'>({type: 'forward.open', request: {uid, port: 'function'}}));
			const body = JSON.stringify(params);
			const head = `POST / HTTP/1.1\r\nhost: f\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
			await node.value(node.type(session, head + body, true));
			return node.hearAll(session);
		},
	};
}

/** One call of an instance; the connection ends with it. */
export async function callOver(connection: Socket, params: unknown): Promise<Answer> {
	const body = JSON.stringify(params);
	const request = http.request({
		createConnection: () => connection,
		method: 'POST',
		headers: {'content-type': 'application/json', 'content-length': Buffer.byteLength(body)},
	});
	const response = await within(
		'an answer of an instance',
		new Promise<http.IncomingMessage>((resolve, reject) => {
			request.on('response', resolve).on('error', reject);
			request.end(body);
		}),
	);
	const answer = await answerOf(response);
	connection.destroy();
	return answer;
}
