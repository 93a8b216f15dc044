// `troupe cp`: files and folders from and to a container, by the tar program in it.

import {stat} from 'node:fs/promises';
import path from 'node:path';
import {PassThrough} from 'node:stream';
import {limits} from '../../api/limits.js';
import {remoteProtocol} from '../../api/remote-channels.js';
import {hasCode} from '../../system/files/errno.js';
import type {Client} from '../client.js';
import {failedError, type Invocation} from '../command.js';
import {copyArtifact, readArtifactCopy} from '../cp/artifact.js';
import {pack} from '../cp/pack.js';
import {readCopy, type Copy, type RemotePlace} from '../cp/places.js';
import {readTar} from '../cp/tar-reader.js';
import {unpack} from '../cp/unpack.js';
import {openSession, type RemoteEnds} from '../exec/remote.js';
import {findTarget} from '../exec/target.js';
import {amount} from '../screen/amount.js';
import {withProgress, type Progress} from '../screen/progress.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import type {Terminal} from '../screen/terminal.js';

type Remote = {readonly client: Client; readonly namespace: string; readonly pod: string; readonly container: string};

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, flags, terminal} = invocation;
	const artifact = readArtifactCopy(inputs);
	if (artifact !== undefined) return copyArtifact(invocation, artifact);
	const copy = readCopy(inputs);
	const {namespace: named, pod} = copy.type === 'down' ? copy.from : copy.to;
	return withClient(invocation, async client => {
		const namespace = named ?? namespaceOf(invocation, client);
		const {container} = await findTarget(client, terminal, {namespace, pod, container: flags.text('container')});
		await withProgress(terminal, 'copying', progress =>
			transfer({client, namespace, pod, container: container.name}, copy, terminal, counterOf(progress)),
		);
		return 0;
	});
}

/** Shows how much there was so far. */
function counterOf(progress: Progress): (bytes: number) => void {
	let sum = 0;
	return bytes => {
		sum += bytes;
		progress.show(`copying: ${amount(sum)}`);
	};
}

function transfer(remote: Remote, copy: Copy, terminal: Terminal, onBytes: (count: number) => void): Promise<void> {
	const onSkipped = (why: string): void => terminal.note(`note: left out: ${why}`);
	return copy.type === 'down'
		? download(remote, copy.from, copy.to, {onBytes, onSkipped})
		: upload(remote, copy.from, copy.to, {onBytes, onSkipped});
}

type Listeners = {readonly onBytes: (count: number) => void; readonly onSkipped: (why: string) => void};

/** Names are byte strings from here on. */
const byteString = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

// ---- from the container ----------------------------------------------------------------------------------------------------

async function download(remote: Remote, from: RemotePlace, to: string, listeners: Listeners): Promise<void> {
	const {folder, base} = partsOf(from.path);
	const into = await isFolder(to);
	if (!into && !(await isFolder(path.dirname(to)))) throw failedError(`there is no folder ${path.dirname(to)} here`);
	const target = into && base !== '' ? path.join(to, base) : to;
	// With ./ no name is taken for a flag.
	const argv = ['tar', '-c', '-f', '-', '-C', folder, base === '' ? '.' : `./${base}`];
	const archive = new PassThrough({highWaterMark: limits.execOutputBytes});
	const {ended, errors, cut} = await runTar(remote, argv, {
		input: undefined,
		// What is not read any more, because it was refused, is dropped.
		output: bytes => new Promise(resolve => void archive.write(bytes, () => resolve())),
	});
	let lost: unknown;
	const code = ended.finally(() => archive.end());
	code.catch((error: unknown) => (lost = error));
	try {
		await unpack(readTar(archive), {base: byteString(base), to: byteString(target), ...listeners});
	} catch (error) {
		// An archive that ends too early because the connection did tells less than that.
		const why = lost ?? error;
		cut();
		archive.destroy();
		throw localError(why);
	}
	checkCode(await code, errors(), `${from.pod}:${from.path}`);
}

/** The folder that tar goes to, and the name in it; no name: all that is in the folder. */
function partsOf(remotePath: string): {readonly folder: string; readonly base: string} {
	const plain = path.posix.normalize(remotePath).replace(/(?<=.)\/$/, '');
	const base = path.posix.basename(plain);
	if (plain === '/' || plain === '.' || base === '..') return {folder: plain, base: ''};
	return {folder: path.posix.dirname(plain), base};
}

// ---- to the container ------------------------------------------------------------------------------------------------------

async function upload(remote: Remote, from: string, to: RemotePlace, listeners: Listeners): Promise<void> {
	await stat(from).catch((error: unknown) => Promise.reject(localError(error)));
	const own = path.basename(path.resolve(from));
	const isInto = to.path.endsWith('/') || (await runTar(remote, ['test', '-d', to.path], quiet).then(({ended}) => ended)) === 0;
	const {folder, base} = isInto ? {folder: to.path, base: own} : partsOf(to.path);
	const input = pack({from: byteString(from), base: byteString(base === '' ? own : base), ...listeners});
	let failure: unknown;
	const {ended, errors} = await runTar(remote, ['tar', '-x', '-m', '-f', '-', '-C', folder], {
		...quiet,
		input: caught(input, error => (failure = error)),
	});
	const code = await ended;
	if (failure !== undefined) throw localError(failure);
	checkCode(code, errors(), `${to.pod}:${to.path}`);
}

const quiet: Pick<RemoteEnds, 'input' | 'output'> = {input: undefined, output: () => Promise.resolve()};

/** An input that broke must not look like one that was whole. */
async function* caught(input: AsyncIterable<Uint8Array>, onError: (error: unknown) => void): AsyncGenerator<Uint8Array> {
	try {
		yield* input;
	} catch (error) {
		onError(error);
	}
}

// ---- both ------------------------------------------------------------------------------------------------------------------

/** Starts a program in the container; what it says on stderr is kept for the person. */
async function runTar({client, namespace, pod, container}: Remote, command: readonly string[], ends: Pick<RemoteEnds, 'input' | 'output'>) {
	const query = {command, container, stdin: ends.input !== undefined, stdout: true, stderr: true};
	const socket = await client.socket({path: pathOf(resourceOf('pods'), namespace, pod, 'exec'), query}, remoteProtocol);
	let said = '';
	const errors = (bytes: Uint8Array): Promise<void> => {
		said = `${said}${new TextDecoder().decode(bytes)}`.slice(0, limits.warningCharacters);
		return Promise.resolve();
	};
	return {ended: openSession(socket, {...ends, errors}).ended, errors: () => said.trim(), cut: socket.cut};
}

function checkCode(code: number, said: string, what: string): void {
	if (code === 0) return;
	if (code === 127) throw failedError(`the container has no program tar, which cp needs${said === '' ? '' : ` (${said})`}`);
	throw failedError(said === '' ? `${what}: tar ended with exit code ${code}` : said.replace(/^/gm, `${what}: `));
}

async function isFolder(name: string): Promise<boolean> {
	try {
		return (await stat(name)).isDirectory();
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return false;
		throw localError(error);
	}
}

/** Node's words for errors of files name the file; the code in front says little to people. */
const localError = (error: unknown): Error =>
	error instanceof Error && 'syscall' in error ? failedError(error.message.replace(/^[A-Z]+: /, '')) : (error as Error);
