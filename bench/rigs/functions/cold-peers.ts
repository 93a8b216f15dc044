// What a cold start of a Python function is measured beside: a fork of an interpreter that has loaded the runner in advance, and a process that has
// loaded nothing. Nobody looks after either.

import {spawn, type ChildProcess} from 'node:child_process';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {limits} from '../../../api/limits.js';
import type {RunnerConfig} from '../../../agent/functions/runners/runner-config.js';
import {within} from '../../harness/deadline.js';
import type {Scope} from '../../harness/scope.js';
import {temporaryFolder} from '../cluster/cluster.js';
import {fineCall, type Callable} from './call.js';

/** Called, from nothing to the first byte of the answer, in milliseconds. */
export type ColdPeer = () => Promise<number>;

export type PythonCode = {
	/** The interpreter. */
	readonly python: string;
	/** The folder of the function. */
	readonly folder: string;
};

const patienceMs = 20_000;
/** As the runner of a pod has them. */
const flags = ['-I', '-B'];
const runners = path.join(import.meta.dirname, '../../../agent/functions/runners/python');

// ---- a fork ------------------------------------------------------------------------------------------------------------------

/** A line of configuration makes a child, which says `ready`; an empty line ends it. */
const forking = `
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
from troupe_runner.runner import preload, serve
sys.path.remove(sys.argv[1])
preload()
print("preloaded", flush=True)
child = 0
for line in sys.stdin:
    if child:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        child = 0
    if not line.strip():
        print("ended", flush=True)
        continue
    child = os.fork()
    if child == 0:
        news = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        serve({**json.loads(line), "readyFd": news})
`;

/** Resolves when the parent has loaded what it loads in advance. */
export async function startForks(scope: Scope, {python, folder}: PythonCode): Promise<ColdPeer> {
	const socket = path.join(temporaryFolder(scope, 'fork'), 'socket');
	const parent = spawnGroup(scope, python, [...flags, '-c', forking, runners]);
	const said = linesOf(parent);
	const config: RunnerConfig = {
		dir: folder,
		listen: {path: socket},
		timeoutMs: limits.functionTimeoutMs,
		bodyBytes: limits.functionBodyBytes,
		answerBytes: limits.functionAnswerBytes,
		concurrency: limits.functionConcurrencyDefault,
	};
	// A child that is killed leaves its socket, so the path is another one each time.
	let forks = 0;
	await said('preloaded');
	return async () => {
		const place = `${socket}${(forks += 1)}`;
		const beganAt = performance.now();
		parent.stdin?.write(`${JSON.stringify({...config, listen: {path: place}})}\n`);
		await said('ready');
		const loadedMs = performance.now() - beganAt;
		const {firstByteMs} = await fineCall({socketPath: place, path: '/'}, {});
		parent.stdin?.write('\n');
		await said('ended');
		return loadedMs + firstByteMs;
	};
}

// ---- a fresh process -----------------------------------------------------------------------------------------------------------

/** Serves one call at a port that it says. */
const answeringOnce = `
import http.server, json, sys
sys.path.insert(0, sys.argv[1])
from func import main

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        params = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(main(params)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.handle_request()
`;

export const freshProcess =
	(scope: Scope, {python, folder}: PythonCode): ColdPeer =>
	async () => {
		const beganAt = performance.now();
		const child = spawnGroup(scope, python, [...flags, '-c', answeringOnce, folder]);
		const ended = new Promise<void>(resolve => void child.once('exit', () => resolve()));
		const where: Callable = {host: '127.0.0.1', port: Number(await linesOf(child)()), path: '/'};
		const startedMs = performance.now() - beganAt;
		const {firstByteMs} = await fineCall(where, {});
		await within(patienceMs, 'the end of a process that has answered', ended);
		return startedMs + firstByteMs;
	};

// ---- processes -----------------------------------------------------------------------------------------------------------------

/** Ends with the scope, with all that it has forked. */
function spawnGroup(scope: Scope, program: string, words: readonly string[]): ChildProcess {
	if (scope.isClosing()) throw new Error('interrupted');
	const child = spawn(program, words, {detached: true, stdio: ['pipe', 'pipe', 'inherit']});
	child.once('error', () => undefined); // Its output ends: that is told.
	scope.defer(() => killGroup(child));
	return child;
}

function killGroup({pid}: ChildProcess): void {
	try {
		if (pid !== undefined) process.kill(-pid, 'SIGKILL');
	} catch {
		// All of it has ended.
	}
}

/** Gives the next line that it says, which has to be this one, where one is named. */
function linesOf({stdout, spawnfile}: ChildProcess): (wanted?: string) => Promise<string> {
	if (stdout === null) throw new Error(`${spawnfile} has no output`);
	const lines = createInterface({input: stdout})[Symbol.asyncIterator]();
	return async wanted => {
		const next: IteratorResult<string, undefined> = await within(patienceMs, `a line of ${spawnfile}`, lines.next());
		if (next.done === true) throw new Error(`${spawnfile} ended`);
		if (wanted !== undefined && next.value !== wanted) throw new Error(`${spawnfile} said "${next.value}", not "${wanted}"`);
		return next.value;
	};
}
