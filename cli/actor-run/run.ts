// `troupe actor run FILE`: a behaviour of the user's own as an actor system that is joined to the cluster, for as long as this process runs.

import {hostname} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {Worker} from 'node:worker_threads';
import {AppError} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {Json} from '../../api/object.js';
import {isDnsLabel} from '../../api/rules/names.js';
import {shown} from '../../api/shown.js';
import {formatUserSystem} from '../../api/user-system.js';
import {valueOr} from '../../api/value-or.js';
import type {Message} from '../../system/kernel/behavior.js';
import {systemClock} from '../../system/time/clock.js';
import {brokerLoginOf, type BrokerLogin} from '../cluster/broker-login.js';
import {withClient} from '../cluster/session.js';
import {failedError, interruptedExitCode, usageError, type Invocation} from '../command.js';
import {parseMessage} from '../command-line/message.js';
import type {Terminal} from '../screen/terminal.js';
import {ownLines} from './own-lines.js';
import {mainPath} from './run-root.js';
import {checkFile} from './user-module.js';
import {receivedError, type FromThread, type RunWork, type ToThread} from './thread-words.js';

/** Runs until the first actor ends, or somebody ends it; the exit code. */
export async function runActor(invocation: Invocation, files: readonly string[]): Promise<number> {
	const {flags} = invocation;
	const [file, ...more] = files;
	if (file === undefined || more.length > 0)
		throw usageError(`run takes one file, as in: troupe actor run counter.mjs; got ${files.length === 0 ? 'none' : files.join(' ')}`);
	checkFile(file);
	const name = nameOf(flags.text('name'), file);
	const input = parsedJson('--input', flags.text('input') ?? 'null');
	const first = flags.texts('tell').map(text => parseMessage(text, '--tell'));
	const broker = await withClient(invocation, (client, connection) => brokerLoginOf(connection, client));
	refuseReader(broker);
	const work: RunWork = {file: path.resolve(file), name, broker, input, host: hostname(), pid: process.pid, faults: flags.on('faults')};
	return runThread(work, {first, readsInput: flags.on('stdin'), terminal: invocation.terminal});
}

/** `--name`, or what the file is called. */
function nameOf(given: string | undefined, file: string): string {
	const name =
		given ??
		path
			.parse(file)
			.name.toLowerCase()
			.replaceAll(/[^a-z0-9]+/g, '-')
			.replaceAll(/^-|-$/g, '');
	if (isDnsLabel(name)) return name;
	const what = given === undefined ? `${file} gives no name for the system` : `--name ${shown(name)} cannot be the name of a system`;
	throw usageError(
		`${what}: that is 1 to 63 of a-z, 0-9 and -, with a letter or digit at both ends${given === undefined ? '; use --name' : ''}`,
	);
}

function parsedJson(flag: string, text: string): Json {
	const parsed = valueOr(undefined, () => JSON.parse(text) as Json);
	if (parsed === undefined) throw usageError(`${flag} must be JSON, got ${shown(text)}`);
	return parsed;
}

function refuseReader({login, role}: BrokerLogin): void {
	if (role === 'admin' || role === 'edit') return;
	throw new AppError('ERR_FORBIDDEN', {
		message: `"${login}" may not run actors: that takes a token with the role admin or edit, and it has ${role}`,
	});
}

type Running = {readonly first: readonly Message[]; readonly readsInput: boolean; readonly terminal: Terminal};

function runThread(work: RunWork, {first, readsInput, terminal}: Running): Promise<number> {
	const worker = new Worker(new URL('./thread.js', import.meta.url), {workerData: work});
	const say = (told: ToThread): void => worker.postMessage(told);
	for (const message of first) say({type: 'tell', message, cause: '--tell'});
	return new Promise<number>((resolve, reject) => {
		let error: AppError | undefined;
		let phase: Phase = 'loads';
		let closeInput = (): void => undefined;
		/** Whatever of the module still runs there: timers, servers. */
		const end = (as: 'stuck' | 'interrupted' | 'ended'): void => {
			if (phase !== 'ended') phase = as;
			void worker.terminate();
		};
		const take = (news: FromThread): void => {
			switch (news.type) {
				case 'loaded':
					return cancel();
				case 'ready':
					phase = 'runs';
					terminal.note(readyText(work));
					if (readsInput) closeInput = readLines(terminal, say);
					return;
				case 'print':
					return terminal.out(`${news.text}\n`);
				case 'note':
					return terminal.note(news.line);
				case 'ended':
					error = news.error === undefined ? undefined : receivedError(news.error);
					return end('ended');
			}
		};
		/** The second time it is not waited for, nor where there is nothing yet that could stop in order. */
		const stop = (): void => {
			if (phase !== 'runs') return end('interrupted');
			phase = 'stops';
			terminal.note('stopping; once more ends it at once');
			say({type: 'stop'});
			cancel = systemClock.after(limits.shutdownMs + limits.linkCloseMs, () => end('stuck'));
		};
		let cancel = systemClock.after(slowLoadMs, () => terminal.note(slowLoadText(work)));
		for (const signal of signals) process.on(signal, stop);
		worker.on('message', take);
		worker.on('error', failure => (error = failedError(uncaughtText(work, failure))));
		worker.once('exit', code => {
			cancel();
			closeInput();
			for (const signal of signals) process.off(signal, stop);
			if (error !== undefined) reject(error);
			else if (phase === 'ended') resolve(0);
			else if (phase === 'interrupted') {
				terminal.note('ended at once');
				resolve(interruptedExitCode);
			} else reject(failedError(phase === 'stuck' ? stuckText : selfEndedText(work, phase, code)));
		});
	});
}

/** Loading and joining the cluster; the last three are ends. */
type Phase = 'loads' | 'runs' | 'stops' | 'stuck' | 'interrupted' | 'ended';

/** A module that takes longer to load is told of. */
const slowLoadMs = 3_000;
const slowLoadText = ({file}: RunWork): string =>
	`${path.basename(file)} is still being loaded: what it does when it is imported, such as a top-level await, is not done; Ctrl-C ends it`;

/** Node ends a thread with that where nothing is left that could settle a top-level await. */
const unsettledExitCode = 13;

function selfEndedText({file}: RunWork, phase: Phase, code: number): string {
	const isUnsettled = phase === 'loads' && code === unsettledExitCode;
	return isUnsettled
		? `${file}: it cannot be loaded: its top-level await never ends`
		: `${file}: it has ended its own thread (process.exit), with ${code}`;
}

/** In a timer, or in a promise that is not awaited: outside of a step, where no supervisor is. */
function uncaughtText({file}: RunWork, {name, message, stack = ''}: Error): string {
	const own = ownLines(stack);
	const lines = own.length === 0 ? stack.split('\n').slice(1) : own;
	return [`${path.basename(file)} failed outside of its actors' steps: ${name}: ${message}`, ...lines].join('\n');
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const stuckText = 'the actors did not stop, and were ended: one of their steps goes on and on, or is not done with its last word';

function readyText({name, broker: {login}, file, faults}: RunWork): string {
	const system = formatUserSystem({name, login});
	return [
		...(faults ? ['faults may be made here (--faults): troupe fault'] : []),
		`${system} runs ${path.basename(file)}; Ctrl-C ends it`,
		`  look into it: troupe tree ${system}, or troupe repl and cd ${system}/${mainPath}`,
		`  systems of ${login} reach it as troupe://${system}/${mainPath}`,
	].join('\n');
}

/** Each line of the input is a message. What is no message is told, and passed over. */
function readLines({input, note}: Terminal, say: (told: ToThread) => void): () => void {
	const lines = createInterface({input, crlfDelay: Infinity});
	lines.on('line', line => {
		if (line.trim() === '') return;
		try {
			say({type: 'tell', message: parseMessage(line, 'a line of the input'), cause: 'stdin'});
		} catch (error) {
			if (!(error instanceof AppError)) throw error;
			note(error.message);
		}
	});
	return () => lines.close();
}
