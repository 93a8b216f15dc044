// A runner that was started before its pod was known, by an agent that is root.
//
// What it keeps true:
// - It waits for one line, its assignment (agent/functions/warm/assignment.ts), and has nothing of a user's before that. The end of the agent is its own.
// - What may fail is tried before the attempt is written down, as far as possible: until then the agent can start the pod in the other way.
// - After that it is the process of one pod for good: in its groups, its user without any way back, with nothing open of the agent's.
//
// What Node.js cannot ask of the kernel was done when it began: it is in a network that has become its pod's, and gains no rights (no_new_privs).

import {spawnSync} from 'node:child_process';
import {closeSync, constants, openSync, readFileSync, readSync, readlinkSync, writeSync} from 'node:fs';
import http from 'node:http';
import module from 'node:module';
import path from 'node:path';
import type {NodeAssignment} from '../warm/assignment.js';
import {Calls} from './node-calls.js';
import type {RunnerConfig} from './runner-config.js';

/** As agent/process/start/shim.ts has them. */
const state = 3;
const lifeline = 4;
const proc = 5;
const given = 6;
const control = 7;

const refused = 126;

/** Waits to be the runner of a pod, becomes it, and gives its configuration. */
export async function assigned(): Promise<RunnerConfig> {
	// It saves time, and nothing else.
	await callOnce().catch(() => undefined);
	const line = wait();
	if (line === undefined) process.exit(0);
	const assignment = JSON.parse(line) as NodeAssignment;
	let prepared;
	try {
		prepared = prepare(assignment);
	} catch (error) {
		writeSync(state, `refused ${oneLine(error)}\n`);
		process.exit(refused);
	}
	try {
		tell(assignment, prepared.stat);
		become(assignment, prepared.groups);
	} catch (error) {
		writeSync(2, `error: a runner that was started in advance cannot become that of its pod: ${oneLine(error)}\n`);
		process.exit(refused);
	}
	return assignment.config;
}

/**
 * One call of nothing, so that all that Node.js loads and compiles with the first is there. At a socket in the folder of its attempt, to which nobody
 * but root comes.
 */
async function callOnce(): Promise<void> {
	const folder = openSync(path.dirname(readlinkSync(`/proc/self/fd/${state}`)), constants.O_RDONLY | constants.O_DIRECTORY);
	const socketPath = `/proc/self/fd/${folder}/.first`;
	const bounds = {timeoutMs: 60_000, bodyBytes: chunk, answerBytes: chunk, concurrency: 1};
	const calls = new Calls(params => params, {...bounds, dir: '/', listen: {path: socketPath}});
	const server = http.createServer((request, response) => calls.begin(request, response, false));
	await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(socketPath, resolve));
	await new Promise<void>((resolve, reject) => {
		const request = http.request({socketPath, method: 'POST', headers: {'content-type': 'application/json'}, agent: false});
		request.on('response', response => void response.resume().on('end', resolve)).on('error', reject);
		request.end('{}');
	});
	await new Promise(resolve => void server.close(resolve));
	closeSync(folder);
}

const chunk = 65_536;

/** The line; undefined: the agent has ended. It holds this thread, so nothing of the process runs meanwhile. */
function wait(): string | undefined {
	writeSync(control, 'ready\n');
	const pieces: Buffer[] = [];
	for (;;) {
		const piece = Buffer.alloc(chunk);
		const length = readSync(control, piece);
		if (length === 0) return undefined;
		pieces.push(piece.subarray(0, length));
		if (piece[length - 1] === 0x0a) return Buffer.concat(pieces).toString();
	}
}

type Prepared = {readonly groups: readonly number[]; readonly stat: string};

/** What it will be in is opened, and its place among the files of the node is taken. */
function prepare({cgroups, umask, view}: NodeAssignment): Prepared {
	const groups = cgroups.map(file => openSync(file, 'r+'));
	if (umask !== null) process.umask(umask);
	if (view !== null) enter(view);
	return {groups, stat: readFileSync(`/proc/self/fd/${proc}/self/stat`, 'utf8').trim()};
}

/** Its shell tells why it does not. */
function enter({text, words}: NonNullable<NodeAssignment['view']>): void {
	const {status, error} = spawnSync('/bin/sh', ['-c', text, 'sh', ...words], {
		cwd: '/',
		env: {},
		stdio: ['ignore', 'ignore', 'ignore', state],
	});
	if (error !== undefined) throw error;
	if (status !== 0) throw new Error('its files cannot be put in place');
}

/** The attempt has begun, as the shim of another one writes it down. */
function tell({startedAtMs, bootId}: NodeAssignment, stat: string): void {
	for (const line of [`running ${startedAtMs} ${bootId} ${stat.split(' ', 1)[0]}`, `process ${stat}`]) {
		writeSync(state, `${line}\n`);
		writeSync(lifeline, '\n');
	}
}

function become({user, groups, env, directory}: NodeAssignment, joined: readonly number[]): void {
	for (const group of joined) writeSync(group, '0');
	for (const descriptor of [...joined, state, lifeline, proc, given, control]) closeSync(descriptor);
	giveUpRights(user, groups);
	takeEnvironment(env);
	process.chdir(directory);
}

/** Of all threads of the process: the C library sees to that. Throws where anything of root is left. */
function giveUpRights({uid, gid}: NodeAssignment['user'], groups: NodeAssignment['groups']): void {
	const {setgroups, setgid, setuid, getuid, geteuid, getgid, getegid, getgroups} = process;
	setgroups?.([...groups]);
	setgid?.(gid);
	setuid?.(uid);
	const ids = [getuid?.(), geteuid?.(), getgid?.(), getegid?.()];
	// The kernel may name the group of the process among the others.
	const others = getgroups?.().filter(group => group !== gid) ?? [];
	if (ids.join() !== [uid, uid, gid, gid].join() || others.some(group => !groups.includes(group)))
		throw new Error(`it has rights that are not its pod's: ${ids.join()}, ${others.join()}`);
}

/** Of Node.js' own: where CommonJS modules are looked for at last follows from HOME, and was read when it began. */
type Paths = {readonly _initPaths?: () => void};

function takeEnvironment(env: NodeAssignment['env']): void {
	for (const name of Object.keys(process.env)) delete process.env[name];
	for (const [name, value] of env) process.env[name] = value;
	(module as Paths)._initPaths?.();
}

const oneLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split(/\s+/).join(' ');
