// Room that is kept for the next start: LevelDB writes a table from its log before it lets itself be read, and a term begins with a write. On
// a full disk neither would go. So a file is kept beside the store that is given up where there is no room, and filled again afterwards.

import {randomFillSync} from 'node:crypto';
import {constants, open, rm, statfs} from 'node:fs/promises';
import path from 'node:path';
import {limits} from '../../api/limits.js';

export const reserveFile = 'RESERVE';

export type Reserve = {
	/** So much more is in the log: as much room and some will be wanted. */
	readonly count: (bytes: number) => void;
	/** Lends the room to an opening by the running process. What it resolves to takes it again, as far as there is room. Neither rejects. */
	readonly lend: () => Promise<(isOpen: boolean) => Promise<void>>;
	readonly close: () => Promise<void>;
};

/** Before a store is opened: gives the reserve up where the disk is full, or nearly so. Never rejects. */
export async function giveUpReserve(location: string): Promise<void> {
	if ((await roomAt(location)) >= limits.storeReserveBytes) return;
	// Where it cannot be, opening tells what is wrong.
	await rm(path.join(location, reserveFile), {force: true}).catch(() => undefined);
}

export function openReserve(location: string): Reserve {
	let written = 0;
	let reserved = 0;
	let filling: Promise<void> | undefined;
	const count = (bytes: number): void => {
		written += bytes;
		const wanted = Math.min(limits.storeReserveBytes, written + stepBytes);
		if (wanted <= reserved || filling !== undefined) return;
		// In steps, so that hardly a write waits for it.
		reserved = Math.ceil(wanted / stepBytes) * stepBytes;
		filling = fill(location, reserved)
			// Where it cannot be kept all else goes on.
			.catch(() => undefined)
			.finally(() => (filling = undefined));
	};
	return {
		count,
		async lend() {
			await filling;
			await giveUpReserve(location);
			return async isOpen => {
				reserved = 0;
				// What its log had is in a table now.
				if (isOpen) written = 0;
				count(0);
				await filling;
			};
		},
		close: () => filling ?? Promise.resolve(),
	};
}

const stepBytes = 1_048_576;
const pieceBytes = 65_536;
/** What stays for the small files of a start. */
const spareBytes = 131_072;

/** Where it cannot be asked for there is enough. */
async function roomAt(location: string): Promise<number> {
	const found = await statfs(location).catch(() => undefined);
	return found === undefined ? Infinity : found.bavail * found.bsize;
}

/** Noise, which no file system keeps in less room. */
async function fill(location: string, wanted: number): Promise<void> {
	const handle = await open(
		path.join(location, reserveFile),
		constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
		0o600,
	);
	try {
		const piece = Buffer.alloc(pieceBytes);
		let {size} = await handle.stat();
		while (size < wanted && (await roomAt(location)) > pieceBytes + spareBytes) {
			await handle.write(randomFillSync(piece));
			size += pieceBytes;
		}
	} finally {
		await handle.close();
	}
}
