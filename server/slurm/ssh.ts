// Connections over SSH, as everything else here sees them: programs that are run, and files. The only file that knows the package ssh2.
//
// The key of the host is judged before anything is sent that tells who logs in. The package is loaded with the first connection: most clusters have none.

import {createHash} from 'node:crypto';
import {connect as connectTcp, type LookupFunction, type Socket} from 'node:net';
import type {Client, ClientChannel, Prompt, ServerHostKeyAlgorithm, SFTPWrapper} from 'ssh2';
import type {HttpPlace} from '../../api/http-hosts.js';
import {limits} from '../../api/limits.js';
import type {Clock} from '../../system/time/clock.js';
import {createTurns} from '../workflows/turns.js';

/** How it shows who it is. One of the last three at least. */
export type SshLogin = {
	readonly username: string;
	readonly password?: string;
	readonly privateKey?: string;
	readonly passphrase?: string;
	/** The socket of an agent. */
	readonly agent?: string;
};

export type HostKey = {readonly fingerprint: string; readonly type: string; readonly bytes: Buffer};

export type SshOptions = {
	readonly place: HttpPlace;
	readonly login: SshLogin;
	/** Of the name of the host. */
	readonly lookup: LookupFunction;
	/** Resolves where the key is the right one, and rejects with what to say otherwise. */
	readonly judge: (key: HostKey) => Promise<void>;
	/** Types of keys that are known of the host: it is asked for one of these first. */
	readonly keyTypes: readonly string[];
	readonly clock: Clock;
	readonly signal: AbortSignal;
};

/** How a program ended that was run. */
export type Ran = {
	/** Undefined: it was killed by a signal, or nothing was said of its end. */
	readonly code: number | undefined;
	readonly out: string;
	readonly errors: string;
};

export type RunOptions = {readonly input: string; readonly ms: number; readonly signal: AbortSignal};

export type RemoteFiles = {
	/** The content is read when it is its turn. */
	readonly write: (path: string, read: () => Promise<Uint8Array>, mode: number, signal: AbortSignal) => Promise<void>;
	/** At most so many bytes from there; none at the end. Undefined: there is no such file. */
	readonly read: (path: string, position: number, most: number, signal: AbortSignal) => Promise<Buffer | undefined>;
};

export type Ssh = {
	readonly hostKey: HostKey;
	readonly run: (command: string, options: RunOptions) => Promise<Ran>;
	readonly files: RemoteFiles;
	readonly isOpen: () => boolean;
	/** Programs that were run, and files that were written or read, so far. */
	readonly counts: () => {readonly programs: number; readonly files: number};
	readonly close: () => void;
};

/** Why there is no connection, or none any more. */
export class SshError extends Error {
	readonly why: 'Unreachable' | 'AuthenticationFailed' | 'BadCredentials';

	constructor(why: SshError['why'], message: string) {
		super(message);
		this.why = why;
	}
}

const unreachable = (message: string): SshError => new SshError('Unreachable', message);

/** Rejects with an SshError, with what `judge` rejects with, with what the look-up of the name does, and with the reason of the signal. */
export async function connectSsh(options: SshOptions): Promise<Ssh> {
	const {place, signal} = options;
	signal.throwIfAborted();
	const deadline = new AbortController();
	const cancel = options.clock.after(limits.slurmConnectMs, () => deadline.abort());
	const ending = AbortSignal.any([signal, deadline.signal]);
	const socket = connectTcp({host: place.host.replace(/^\[|\]$/g, ''), port: place.port, lookup: options.lookup, noDelay: true});
	const end = (): void => void socket.destroy(signal.aborted ? (signal.reason as Error) : late(place));
	ending.addEventListener('abort', end, {once: true});
	try {
		const [{default: ssh2}] = await Promise.all([import('ssh2'), connected(socket, place)]);
		return await handshake(options, new ssh2.Client(), socket);
	} catch (error) {
		socket.destroy();
		throw error;
	} finally {
		cancel();
		ending.removeEventListener('abort', end);
	}
}

const late = ({host, port}: HttpPlace): SshError =>
	unreachable(`${host}:${port} did not take a connection within ${limits.slurmConnectMs / 1_000} s`);

function connected(socket: Socket, {host, port}: HttpPlace): Promise<void> {
	return new Promise((resolve, reject) => {
		socket.once('connect', resolve);
		socket.once('error', (error: NodeJS.ErrnoException) =>
			reject(error.syscall === undefined ? error : unreachable(`${host}:${port} cannot be reached: ${error.message}`)),
		);
	});
}

function handshake(options: SshOptions, client: Client, socket: Socket): Promise<Ssh> {
	const {place, login, judge} = options;
	let hostKey: HostKey | undefined;
	let refusal: Error | undefined;
	return new Promise((resolve, reject) => {
		const fail = (error: Error): void => {
			client.end();
			const reason: Error = refusal ?? error;
			reject(reason);
		};
		client.once('ready', () =>
			hostKey === undefined ? fail(unreachable('no key was shown')) : resolve(sshOf(client, hostKey, options.clock)),
		);
		client.on('error', error => fail(errorOf(error, place)));
		socket.on('error', fail);
		client.once('close', () => fail(unreachable(`${place.host}:${place.port} closed the connection`)));
		let isPasswordGiven = false;
		client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) => {
			// What only tells something asks for no answer.
			if (prompts.length === 0) return answer([]);
			if (isPasswordGiven || prompts.length > 1 || prompts[0]?.echo !== false) return fail(asksForMore(place, login, prompts));
			isPasswordGiven = true;
			answer([login.password ?? '']);
		});
		try {
			client.connect({
				...login,
				sock: socket,
				tryKeyboard: login.password !== undefined,
				readyTimeout: limits.slurmConnectMs,
				keepaliveInterval: limits.slurmConnectMs / 2,
				keepaliveCountMax: 2,
				...algorithmsOf(options.keyTypes),
				hostVerifier: (bytes: Buffer, verify: (isRight: boolean) => void) => {
					hostKey = hostKeyOf(bytes);
					judge(hostKey).then(
						() => verify(true),
						(error: Error) => {
							refusal = error;
							verify(false);
						},
					);
				},
			});
		} catch (error) {
			// Of a key that cannot be read, without anything of it.
			fail(new SshError('BadCredentials', (error as Error).message));
		}
	});
}

/** The password is for one question, and for no other: it would be shown, or taken for a code. */
function asksForMore({host}: HttpPlace, {password = ''}: SshLogin, prompts: readonly Prompt[]): SshError {
	const asked = prompts.map(({prompt}) => (password === '' ? prompt : prompt.replaceAll(password, '…'))).join(' ');
	const shown = asked.replace(/[\s\p{C}]+/gu, ' ').trim();
	return new SshError('AuthenticationFailed', `${host} asks for more than a password: "${shown.slice(0, limits.slurmSaidCharacters)}"`);
}

/** The known types come first: another key of the host says nothing. */
function algorithmsOf(types: readonly string[]): {readonly algorithms?: {serverHostKey: ServerHostKeyAlgorithm[]}} {
	const wanted = types.flatMap(type => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type]));
	const known = wanted.filter((type): type is ServerHostKeyAlgorithm => hostKeyTypes.includes(type));
	return known.length === 0 ? {} : {algorithms: {serverHostKey: known}};
}

const hostKeyTypes: readonly string[] = [
	'ssh-ed25519',
	'ecdsa-sha2-nistp256',
	'ecdsa-sha2-nistp384',
	'ecdsa-sha2-nistp521',
	'rsa-sha2-512',
	'rsa-sha2-256',
	'ssh-rsa',
];

export function hostKeyOf(bytes: Buffer): HostKey {
	const length = bytes.length < 4 ? 0 : Math.min(bytes.readUInt32BE(0), 64);
	const type = bytes.subarray(4, 4 + length).toString('latin1');
	const digest = createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '');
	return {fingerprint: `SHA256:${digest}`, type, bytes};
}

function errorOf(error: Error & {readonly level?: string}, {host, port}: HttpPlace): Error {
	if (error instanceof SshError) return error;
	if (error.level === 'client-authentication')
		return new SshError('AuthenticationFailed', `${host} does not take this login: ${error.message}`);
	return unreachable(`the connection to ${host}:${port} failed: ${error.message}`);
}

function sshOf(client: Client, hostKey: HostKey, clock: Clock): Ssh {
	let lost: SshError | undefined;
	let programs = 0;
	let files = 0;
	const onLost = new Set<(error: SshError) => void>();
	const lose = (error: SshError): void => {
		if (lost !== undefined) return;
		lost = error;
		for (const tell of onLost) tell(error);
	};
	client.on('error', error => lose(unreachable(`the connection was lost: ${error.message}`)));
	client.on('close', () => lose(unreachable('the connection was closed')));
	const close = (error: SshError): void => {
		lose(error);
		client.end();
		client.destroy();
	};
	/** What is not answered in time would keep its place at the login node, however often it is tried again: the connection goes with it. */
	const inTime: InTime = async (ms, what, work) => {
		const cancel = clock.after(ms, () => close(unreachable(`${what} within ${ms / 1_000} s`)));
		try {
			return await work;
		} finally {
			cancel();
		}
	};
	/** Rejects as soon as the connection is lost: nothing that was asked for over it is answered then. */
	const unlessLost = <Value>(work: () => Promise<Value>): Promise<Value> =>
		new Promise((resolve, reject) => {
			if (lost !== undefined) return reject(lost);
			onLost.add(reject);
			work()
				.then(resolve, reject)
				.finally(() => onLost.delete(reject));
		});
	const commands = createTurns(limits.slurmCommands);
	const transfers = createTurns(limits.slurmTransfers);
	let sftp: Promise<SFTPWrapper> | undefined;
	const sftpOf = (): Promise<SFTPWrapper> => {
		sftp ??= inTime(limits.slurmCommandMs, noSftp, openSftp(client)).then(wrapper => {
			wrapper.once('close', () => (sftp = undefined));
			return wrapper;
		});
		sftp.catch(() => (sftp = undefined));
		return sftp;
	};
	const transfer = <Value>(signal: AbortSignal, work: (files: Sftp) => Promise<Value>): Promise<Value> =>
		transfers.take(signal, () =>
			unlessLost(async () => {
				files++;
				const wrapper = await sftpOf();
				return work({sftp: wrapper, answered: step => inTime(limits.slurmCommandMs, noSftp, step), signal});
			}),
		);
	return {
		hostKey,
		run: (command, options) =>
			commands.take(options.signal, () =>
				unlessLost(() => {
					programs++;
					return inTime(options.ms, 'a program did not end', runProgram(client, command, options));
				}),
			),
		files: {
			write: (path, read, mode, signal) => transfer(signal, async by => writeFile(by, path, await read(), mode)),
			read: (path, position, most, signal) => transfer(signal, by => readFile(by, path, position, most)),
		},
		isOpen: () => lost === undefined,
		counts: () => ({programs, files}),
		close: () => close(unreachable('the connection was closed')),
	};
}

/** Gives what is waited for; where that is late, the connection is lost. */
type InTime = <Value>(ms: number, what: string, work: Promise<Value>) => Promise<Value>;

const noSftp = 'SFTP did not answer';

// ---- programs ----------------------------------------------------------------------------------------------------------------

function runProgram(client: Client, command: string, {input, signal}: RunOptions): Promise<Ran> {
	return new Promise((resolve, reject) => {
		const stopped = (): void => reject(signal.reason as Error);
		signal.addEventListener('abort', stopped, {once: true});
		const settle = (): void => signal.removeEventListener('abort', stopped);
		client.exec(command, (error, channel) => {
			if (error !== undefined) {
				settle();
				return reject(unreachable(`no program could be run: ${error.message}`));
			}
			if (signal.aborted) return channel.close();
			signal.addEventListener('abort', () => channel.close(), {once: true});
			endOf(channel).then(resolve, reject).finally(settle);
			channel.end(input);
		});
	});
}

/** What is said beyond the bound is read and dropped, so that the program can end. */
function endOf(channel: ClientChannel): Promise<Ran> {
	const out = collector();
	const errors = collector();
	let code: number | undefined;
	return new Promise((resolve, reject) => {
		channel.on('data', out.add);
		channel.stderr.on('data', errors.add);
		channel.once('exit', (ended: number | null) => (code = ended ?? undefined));
		channel.once('error', (error: Error) => reject(unreachable(`a program was cut off: ${error.message}`)));
		channel.once('close', () => resolve({code, out: out.text(), errors: errors.text()}));
	});
}

function collector(): {readonly add: (chunk: Buffer) => void; readonly text: () => string} {
	const chunks: Buffer[] = [];
	let room = limits.slurmOutputBytes;
	return {
		add(chunk) {
			if (room > 0) chunks.push(chunk.subarray(0, room));
			room -= chunk.length;
		},
		text: () => Buffer.concat(chunks).toString('utf8'),
	};
}

// ---- files -------------------------------------------------------------------------------------------------------------------

const openSftp = (client: Client): Promise<SFTPWrapper> =>
	new Promise((resolve, reject) =>
		client.sftp((error, wrapper) => (error === undefined ? resolve(wrapper) : reject(unreachable(`there is no SFTP: ${error.message}`)))),
	);

/** What the login node says of a file: it is full, say, or may not be written. */
export class RemoteFileError extends Error {}

type Sftp = {
	readonly sftp: SFTPWrapper;
	/** Each step has its time. */
	readonly answered: <Value>(step: Promise<Value>) => Promise<Value>;
	/** Nobody waits any more: it goes on no further than its step. */
	readonly signal: AbortSignal;
};

async function writeFile({sftp, answered, signal}: Sftp, path: string, bytes: Uint8Array, mode: number): Promise<void> {
	const failed = (error: Error): RemoteFileError => new RemoteFileError(`${path} could not be written: ${error.message}`);
	const done = (act: (told: (error?: Error | null) => void) => void): Promise<void> =>
		answered(new Promise((resolve, reject) => act(error => (error === undefined || error === null ? resolve() : reject(failed(error))))));
	const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	let handle: Buffer = Buffer.alloc(0);
	await done(told => sftp.open(path, 'w', {mode}, (error, opened) => ((handle = opened), told(error))));
	try {
		for (let at = 0; at < content.length; at += writtenBytes) {
			signal.throwIfAborted();
			await done(told => sftp.write(handle, content, at, Math.min(writtenBytes, content.length - at), at, told));
		}
	} catch (error) {
		sftp.close(handle, () => undefined);
		throw error;
	}
	// What does not fit may be told only now.
	await done(told => sftp.close(handle, told));
}

async function readFile({sftp, answered, signal}: Sftp, path: string, position: number, most: number): Promise<Buffer | undefined> {
	const handle = await answered(opened(sftp, path));
	if (handle === undefined) return undefined;
	const chunks: Buffer[] = [];
	let at = position;
	try {
		while (at < position + most) {
			signal.throwIfAborted();
			const chunk = await answered(pieceOf(sftp, handle, at, Math.min(pieceBytes, position + most - at)));
			if (chunk.length === 0) break;
			chunks.push(chunk);
			at += chunk.length;
		}
	} finally {
		sftp.close(handle, () => undefined);
	}
	return Buffer.concat(chunks);
}

/** What every server of SFTP gives at once. */
const pieceBytes = 32_768;
/** The package makes of it what the server takes at once. */
const writtenBytes = 262_144;
const noSuchFile = 2;
const endOfFile = 1;

function opened(sftp: SFTPWrapper, path: string): Promise<Buffer | undefined> {
	return new Promise((resolve, reject) =>
		sftp.open(path, 'r', (error, handle) => {
			if (error === undefined || error === null) return resolve(handle);
			if (statusOf(error) === noSuchFile) return resolve(undefined);
			reject(new RemoteFileError(`${path} could not be read: ${error.message}`));
		}),
	);
}

function pieceOf(sftp: SFTPWrapper, handle: Buffer, position: number, bytes: number): Promise<Buffer> {
	return new Promise((resolve, reject) =>
		sftp.read(handle, Buffer.alloc(bytes), 0, bytes, position, (error, read, buffer) => {
			if (error === undefined || error === null) return resolve(buffer.subarray(0, read));
			if (statusOf(error) === endOfFile) return resolve(Buffer.alloc(0));
			reject(new RemoteFileError(error.message));
		}),
	);
}

const statusOf = (error: object): unknown => (error as {readonly code?: unknown}).code;
