// Files and folders of this machine as a tar archive, made while it is sent.

import {createReadStream} from 'node:fs';
import {lstat, readdir, readlink, stat} from 'node:fs/promises';
import {blockBytes, entryTypes, headBlock, nameFieldBytes, paddingOf, type TarHead} from './tar-format.js';
import {failedError} from '../command.js';
import {shown} from '../../api/shown.js';

export type Packing = {
	/** What is packed: a byte string, as all names here. */
	readonly from: string;
	/** What the archive calls it. */
	readonly base: string;
	/** What of it is not packed: the entry alone, or with all below it. Names are those of the archive. */
	readonly isLeftOut?: (name: string, isFolder: boolean) => 'entry' | 'all' | undefined;
	/** False: all are of 1970. */
	readonly hasTimes?: boolean;
	readonly onBytes: (count: number) => void;
	/** Told of what is left out. */
	readonly onSkipped: (why: string) => void;
};

/** The bytes of the archive. A link that is named itself stands for what it leads to; those within are kept. Throws errno exceptions. */
export async function* pack(packing: Packing): AsyncGenerator<Buffer> {
	yield* packOne(packing, packing.from, packing.base, true);
	yield Buffer.alloc(2 * blockBytes);
}

const bytes = (name: string): Buffer => Buffer.from(name, 'latin1');

async function* packOne(packing: Packing, from: string, name: string, isTop: boolean): AsyncGenerator<Buffer> {
	const found = await (isTop ? stat : lstat)(bytes(from));
	const mtime = packing.hasTimes === false ? 0 : Math.floor(found.mtimeMs / 1_000);
	const {mode} = found;
	const left = packing.isLeftOut?.(name, found.isDirectory());
	if (left === 'all') return;
	if (found.isDirectory()) {
		if (left !== 'entry') yield* heads({name: `${name}/`, type: entryTypes.directory, mode, size: 0, link: ''}, mtime);
		const names = await readdir(bytes(from), {encoding: 'buffer'});
		for (const each of names.map(one => one.toString('latin1')).sort())
			yield* packOne(packing, `${from}/${each}`, `${name}/${each}`, false);
	} else if (found.isFile()) {
		yield* heads({name, type: entryTypes.file, mode, size: found.size, link: ''}, mtime);
		yield* content(packing, from, found.size);
	} else if (found.isSymbolicLink()) {
		const link = (await readlink(bytes(from), {encoding: 'buffer'})).toString('latin1');
		yield* heads({name, type: entryTypes.symbolicLink, mode, size: 0, link}, mtime);
	} else packing.onSkipped(`${shown(bytes(from).toString('utf8'))} is no file, folder or link`);
}

/** The head, and before it GNU's entries for what is too long for its field. */
function* heads(head: TarHead, mtime: number): Generator<Buffer> {
	if (head.link.length > nameFieldBytes) yield* long(entryTypes.longLink, head.link);
	if (head.name.length > nameFieldBytes) yield* long(entryTypes.longName, head.name);
	yield headBlock(head, mtime);
}

function* long(type: string, text: string): Generator<Buffer> {
	const size = text.length + 1;
	yield headBlock({name: '././@LongLink', type, mode: 0, size, link: ''}, 0);
	yield Buffer.concat([bytes(text), Buffer.alloc(1 + paddingOf(size))]);
}

/** As many bytes as the head says; a file that changes meanwhile is cut there, and one that got shorter ends it. */
async function* content({onBytes}: Packing, from: string, size: number): AsyncGenerator<Buffer> {
	let left = size;
	if (size > 0)
		for await (const piece of createReadStream(bytes(from), {end: size - 1}) as AsyncIterable<Buffer>) {
			left -= piece.length;
			onBytes(piece.length);
			yield piece;
		}
	if (left > 0) throw failedError(`${shown(bytes(from).toString('utf8'))} got shorter while it was read`);
	yield Buffer.alloc(paddingOf(size));
}
