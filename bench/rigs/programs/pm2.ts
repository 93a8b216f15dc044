// The peer: pm2 through its own API and daemon, with a home of its own. It is installed on demand into a folder for caches, never
// into the project; where that cannot be done, the benchmarks go on without it.

import {execFile} from 'node:child_process';
import {existsSync, lstatSync, mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir, userInfo} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {isAlive} from '../../../cli/files/processes.js';
import type {Words} from './bare.js';
import {temporaryFolder} from '../cluster/cluster.js';
import {within} from '../../harness/deadline.js';
import type {Scope} from '../../harness/scope.js';

const version = '7.0.4';
const installMs = 120_000;
const answerMs = 60_000;

export type Pm2 =
	| {
			readonly ok: true;
			/** Resolves when its API says that they are started. */
			readonly start: (name: string, words: Words, instances: number) => Promise<void>;
			readonly deleteAll: () => Promise<void>;
	  }
	| {readonly ok: false; readonly why: string};

type Callback = (error: unknown) => void;

/** The part of pm2's API that is used. */
type Api = {
	readonly connect: (done: Callback) => void;
	readonly start: (options: Readonly<Record<string, unknown>>, done: Callback) => void;
	readonly delete: (name: string, done: Callback) => void;
	readonly killDaemon: (done: Callback) => void;
	readonly disconnect: () => void;
};

/** An instance of its own for each home. */
type Module = {readonly custom: new (options: {readonly pm2_home: string}) => Api};

/** Starts its daemon; it is killed with the scope. */
export async function openPm2(scope: Scope): Promise<Pm2> {
	try {
		const modules = await installed();
		const home = temporaryFolder(scope, 'pm2');
		process.env['PM2_HOME'] = home; // Looked at when it is loaded first, be it only to make that folder.
		const pm2 = createRequire(path.join(modules, 'bench.cjs'))('pm2') as Module;
		const api = new pm2.custom({pm2_home: home});
		scope.defer(() => killLeftover(home));
		await called('connect', done => api.connect(done));
		scope.defer(async () => {
			await called('kill', done => api.killDaemon(done));
			api.disconnect();
		});
		return {
			ok: true,
			start: (name, words, instances) => called('start', done => api.start(settingsOf(name, words, instances), done)),
			deleteAll: () => called('delete', done => api.delete('all', done)),
		};
	} catch (error) {
		return {ok: false, why: `pm2 ${version} could not be had: ${firstLine(error)}`};
	}
}

const settingsOf = (name: string, [script, ...args]: Words, instances: number): Readonly<Record<string, unknown>> => ({
	name,
	script,
	args,
	instances,
	interpreter: 'none',
	exec_mode: 'fork',
	autorestart: true,
	max_restarts: 1_000_000,
	// Neither logs nor a look for a git repository: it is to do no more than the others.
	output: '/dev/null',
	error: '/dev/null',
	vizion: false,
	pmx: false,
});

const called = (what: string, call: (done: Callback) => void): Promise<void> =>
	within(
		answerMs,
		`pm2 ${what}`,
		new Promise((resolve, reject) => {
			call(error => (error ? reject(error instanceof Error ? error : new Error(JSON.stringify(error))) : resolve()));
		}),
	);

/** The folder with pm2 in it. */
async function installed(): Promise<string> {
	const folder = path.join(tmpdir(), `troupe-bench-cache-${userInfo().uid}`, `pm2-${version}`);
	mkdirSync(folder, {recursive: true, mode: 0o700});
	// Code is run from there: it must be ours.
	if (lstatSync(path.dirname(folder)).uid !== userInfo().uid) throw new Error(`${path.dirname(folder)} belongs to somebody else`);
	if (existsSync(path.join(folder, 'node_modules/pm2/package.json'))) return folder;
	process.stdout.write(`installing pm2 ${version} into ${folder} ...\n`);
	await promisify(execFile)(
		'npm',
		['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', `pm2@${version}`],
		{
			timeout: installMs,
		},
	);
	return folder;
}

/** When its API did not bring it to an end. */
function killLeftover(home: string): void {
	const file = path.join(home, 'pm2.pid');
	const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
	if (Number.isSafeInteger(pid) && pid > 1 && isAlive(pid)) process.kill(pid, 'SIGKILL');
}

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
