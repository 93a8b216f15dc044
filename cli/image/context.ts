// The folder that an image is built from: as a tar archive without what its `.dockerignore` leaves out, and what tells one such folder from
// another: names, modes, links and contents, and how it is built.

import {createHash} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import type {ImageBuild} from '../../api/image-news.js';
import {limits} from '../../api/limits.js';
import {hasCode} from '../../system/files/errno.js';
import {failedError} from '../command.js';
import {pack} from '../cp/pack.js';
import {reasonOf} from '../files/bounded-file.js';
import {readDockerignore, type Ignored} from './dockerignore.js';

export type Context = {
	/** `sha256:…`: another one where the image would be made from something else, or in another way. */
	readonly hash: string;
	readonly bytes: number;
	/** The archive; read anew each time. */
	readonly archive: () => AsyncIterable<Uint8Array>;
};

/** Reads all of it once. Throws with words for what cannot be sent. */
export async function readContext(folder: string, build: ImageBuild): Promise<Context> {
	const wrong = (error: unknown): Error => failedError(`the folder ${folder}: ${reasonOf(error)}`);
	const found = await stat(folder).catch((error: unknown) => {
		throw wrong(error);
	});
	if (!found.isDirectory()) throw failedError(`${folder} is no folder`);
	const dockerfile = await stat(path.join(folder, build.dockerfile)).catch(() => undefined);
	if (dockerfile?.isFile() !== true) throw failedError(`there is no file ${build.dockerfile} in ${folder}`);
	const ignored = await ignoredIn(folder);
	const isLeftOut = leavingOut(ignored, build.dockerfile);
	const packed = async function* (hasTimes: boolean): AsyncGenerator<Uint8Array> {
		try {
			const from = Buffer.from(folder, 'utf8').toString('latin1');
			yield* pack({from, base: '.', isLeftOut, hasTimes, onBytes: () => undefined, onSkipped: () => undefined});
		} catch (error) {
			throw wrong(error);
		}
	};
	const hash = createHash('sha256').update(JSON.stringify(build));
	let bytes = 0;
	for await (const piece of packed(false)) {
		hash.update(piece);
		bytes += piece.length;
		if (bytes > limits.buildContextBytes)
			throw failedError(
				`the folder ${folder} has more than ${limits.buildContextBytes} bytes; a .dockerignore in it leaves out what is not needed`,
			);
	}
	return {hash: `sha256:${hash.digest('hex')}`, bytes, archive: () => packed(true)};
}

async function ignoredIn(folder: string): Promise<Ignored> {
	const file = path.join(folder, '.dockerignore');
	try {
		return readDockerignore(await readFile(file, 'latin1'));
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return {isLeftOut: () => false, isFinal: true};
		throw failedError(`${file}: ${reasonOf(error)}`);
	}
}

/** The Engine needs the two files that say what it does, also where they are left out of the image. */
function leavingOut({isLeftOut, isFinal}: Ignored, dockerfile: string): (name: string, isFolder: boolean) => 'entry' | 'all' | undefined {
	const kept = ['.dockerignore', Buffer.from(dockerfile, 'utf8').toString('latin1')];
	return (name, isFolder) => {
		const inner = name.replace(/^\.\//, '');
		if (inner === '.' || kept.includes(inner) || !isLeftOut(inner)) return undefined;
		const isAbove = kept.some(file => file.startsWith(`${inner}/`));
		return isFolder && (!isFinal || isAbove) ? 'entry' : 'all';
	};
}
