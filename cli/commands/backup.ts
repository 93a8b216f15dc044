// `troupe backup FILE`: all that the cluster keeps, in a file that appears when it is whole.

import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import {link, open, rename, unlink} from 'node:fs/promises';
import path from 'node:path';
import {readBackup, type BackupHead} from '../../system/store/backup.js';
import {syncDirectory} from '../../system/files/atomic-file.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {withClient} from '../cluster/session.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [name, ...more] = inputs;
	if (name === undefined || more.length > 0) throw usageError('backup takes one file, as in: troupe backup monday.troupe');
	const file = path.resolve(name);
	const replaces = flags.on('force');
	if (!replaces && existsSync(file)) throw failedError(`${file} is there already; --force replaces it`);
	const {head, records} = await withClient(invocation, async client =>
		store(file, replaces, await client.stream({path: '/troupe/v1/backup', accept: '*/*'})),
	);
	terminal.out(`backup of version ${head.meta.version} (${records} records) in ${file}\n`);
	terminal.note(
		"note: the key is not in it: keep data/cluster.key of the server's home too, in another place; without it nobody can open the secrets and logins of this backup",
	);
	return 0;
}

type Stored = {readonly head: BackupHead; readonly records: number};

/** Writes beside the file, checks all that comes, and gives it its name at the end. */
async function store(file: string, replaces: boolean, bytes: AsyncIterable<Uint8Array>): Promise<Stored> {
	const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}`);
	const handle = await open(temporary, 'wx', 0o600).catch((error: unknown) => {
		throw failedError(`${file} cannot be written: ${(error as Error).message}`);
	});
	try {
		const stored = await checked(kept(bytes, chunk => handle.writeFile(chunk)));
		await handle.sync();
		await handle.close();
		if (replaces) await rename(temporary, file);
		else await linked(temporary, file);
		await syncDirectory(path.dirname(file));
		return stored;
	} catch (error) {
		await handle.close();
		await unlink(temporary).catch(() => undefined);
		throw error;
	}
}

/** A link, unlike a rename, never takes the place of a file that another program made meanwhile. */
async function linked(temporary: string, file: string): Promise<void> {
	await link(temporary, file).catch((error: unknown) => {
		throw failedError(`${file} cannot be made: ${(error as Error).message}`);
	});
	await unlink(temporary);
}

async function* kept(bytes: AsyncIterable<Uint8Array>, keep: (chunk: Uint8Array) => Promise<void>): AsyncIterable<Uint8Array> {
	for await (const chunk of bytes) {
		await keep(chunk);
		yield chunk;
	}
}

async function checked(bytes: AsyncIterable<Uint8Array>): Promise<Stored> {
	const {head, records} = await readBackup(bytes);
	let count = 0;
	for await (const _record of records) count++;
	return {head, records: count};
}
