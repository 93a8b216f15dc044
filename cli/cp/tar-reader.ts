// The entries of a tar archive as it comes in. What it says is checked, and what it names is not trusted: see `unpack.ts`.

import {limits} from '../../api/limits.js';
import {failedError} from '../command.js';
import {blockBytes, entryTypes, paddingOf, readHead, type TarHead} from './tar-format.js';

export type TarEntry = TarHead & {
	/** Of a file; what is not read of it is skipped at the next entry. */
	readonly content: () => AsyncGenerator<Buffer>;
};

/** Throws AppError when the bytes are no archive, or end too early. */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
	const source = sourceOf(bytes);
	let long: {name?: string; link?: string; size?: number} = {};
	for (let empty = 0; empty < 2;) {
		const block = await source.take(blockBytes);
		// Some end without the two empty blocks.
		if (block === undefined) return;
		empty = block.every(byte => byte === 0) ? empty + 1 : 0;
		if (empty > 0) continue;
		const head = readHead(block);
		if (head === undefined) throw noArchive();
		const {type} = head;
		if (type === entryTypes.longName || type === entryTypes.longLink) {
			const text = untilEnd(await description(source, head.size));
			long = type === entryTypes.longName ? {...long, name: text} : {...long, link: text};
		} else if (type === entryTypes.pax) long = {...long, ...paxOf(await description(source, head.size))};
		else if (type === entryTypes.paxGlobal) await description(source, head.size);
		else {
			const entry = {...head, ...long};
			long = {};
			let left = entry.size;
			const content = async function* (): AsyncGenerator<Buffer> {
				while (left > 0) {
					const piece = await source.takeUpTo(left);
					if (piece === undefined) throw cutOff();
					left -= piece.length;
					yield piece;
				}
			};
			yield {...entry, content};
			for await (const _skipped of content());
			if ((await source.take(paddingOf(entry.size))) === undefined) throw cutOff();
		}
	}
	// The container's tar must not find a closed pipe.
	while ((await source.takeUpTo(Number.MAX_SAFE_INTEGER)) !== undefined);
}

const noArchive = () => failedError('what came from the container is no tar archive');
const cutOff = () => failedError('the archive from the container ends too early');

/** What is said of the next entry; bounded, since it is kept. */
async function description(source: Source, size: number): Promise<Buffer> {
	if (size > limits.archiveNameBytes) throw noArchive();
	const text = await source.take(size);
	if (text === undefined || (await source.take(paddingOf(size))) === undefined) throw cutOff();
	return text;
}

function untilEnd(bytes: Buffer): string {
	const text = bytes.toString('latin1');
	const end = text.indexOf('\0');
	return end < 0 ? text : text.slice(0, end);
}

/** `LENGTH KEY=VALUE\n`, as often as there is something to say. */
function paxOf(bytes: Buffer): {name?: string; link?: string; size?: number} {
	const found: {name?: string; link?: string; size?: number} = {};
	const text = bytes.toString('latin1');
	for (let at = 0; at < text.length;) {
		const [, digits = ''] = /^(\d{1,6}) /.exec(text.slice(at, at + 8)) ?? [];
		const length = Number(digits);
		const record = text.slice(at + digits.length + 1, at + length);
		const equals = record.indexOf('=');
		if (length <= digits.length + 1 || !record.endsWith('\n') || equals < 0) throw noArchive();
		const [key, value] = [record.slice(0, equals), record.slice(equals + 1, -1)];
		if (key === 'path') found.name = value;
		else if (key === 'linkpath') found.link = value;
		else if (key === 'size' && /^\d{1,15}$/.test(value)) found.size = Number(value);
		at += length;
	}
	return found;
}

type Source = {
	/** Exactly so many bytes; undefined when they end before. */
	readonly take: (count: number) => Promise<Buffer | undefined>;
	/** Some, at most so many; undefined at the end. */
	readonly takeUpTo: (count: number) => Promise<Buffer | undefined>;
};

function sourceOf(bytes: AsyncIterable<Uint8Array>): Source {
	const iterator = bytes[Symbol.asyncIterator]();
	let rest = Buffer.alloc(0);
	const fill = async (): Promise<boolean> => {
		const next = await iterator.next();
		if (next.done === true) return false;
		rest = Buffer.concat([rest, next.value]);
		return true;
	};
	const cut = (count: number): Buffer => {
		const piece = rest.subarray(0, count);
		rest = rest.subarray(piece.length);
		return piece;
	};
	return {
		async take(count) {
			while (rest.length < count) if (!(await fill())) return undefined;
			return cut(count);
		},
		async takeUpTo(count) {
			while (rest.length === 0) if (!(await fill())) return undefined;
			return cut(count);
		},
	};
}
