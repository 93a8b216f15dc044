// The images that came to this host by this agent, and when each was used last: kept in a file, so that it knows later what it may remove.
// Without the file it removes nothing.

import {readFile} from 'node:fs/promises';
import {limits} from '../../../api/limits.js';
import {isObject} from '../../../api/object.js';
import {parsedJson} from '../../../api/value-or.js';
import {writeFileAtomic} from '../../../system/files/atomic-file.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Clock} from '../../../system/time/clock.js';
import {explained} from '../../os/explained.js';

/** Names are canonical ones, as they were asked for: what has other names too is used by others. */
export type RememberedImage = {readonly names: readonly string[]; readonly usedAtMs: number};

export type Remembered = {
	/** Once the file was read. */
	readonly all: () => Promise<ReadonlyMap<string, RememberedImage>>;
	/** The image came by this agent under this name. */
	readonly add: (id: string, name: string) => void;
	/** It is used now; nothing happens for one that is not ours. */
	readonly use: (id: string) => void;
	readonly forget: (id: string) => void;
	/** Writes what has changed. */
	readonly save: () => Promise<void>;
};

type Options = {readonly file: string; readonly clock: Clock; readonly onWarning: (message: string) => void};

export function createRemembered({file, clock, onWarning}: Options): Remembered {
	const images = new Map<string, RememberedImage>();
	let isChanged = false;
	const loaded = load(file, onWarning).then(found => {
		for (const [id, image] of found) if (!images.has(id)) images.set(id, image);
	});
	/** Writes one after the other; one that has not begun is for all that asked meanwhile. */
	let writing = loaded;
	let waiting: Promise<void> | undefined;

	function put(id: string, image: RememberedImage): void {
		images.delete(id);
		images.set(id, image);
		const [oldest] = images.keys();
		if (images.size > limits.imagesRemembered && oldest !== undefined) images.delete(oldest);
		isChanged = true;
	}

	async function write(): Promise<void> {
		waiting = undefined;
		if (!isChanged) return;
		isChanged = false;
		try {
			await writeFileAtomic(file, JSON.stringify({images: Object.fromEntries(images)}), 0o600);
		} catch (error) {
			isChanged = true;
			onWarning(`which images came by this agent could not be kept: ${explained(error)}`);
		}
	}

	const save = (): Promise<void> => {
		waiting ??= writing = writing.then(write);
		return waiting;
	};
	return {
		all: () => loaded.then(() => images),
		add(id, name) {
			const names = new Set([...(images.get(id)?.names ?? []), name]);
			put(id, {names: [...names].slice(-limits.imageNames), usedAtMs: clock.nowMs()});
			void save();
		},
		use(id) {
			const image = images.get(id);
			if (image !== undefined) put(id, {...image, usedAtMs: clock.nowMs()});
		},
		forget(id) {
			isChanged = images.delete(id) || isChanged;
		},
		save,
	};
}

async function load(file: string, onWarning: (message: string) => void): Promise<ReadonlyMap<string, RememberedImage>> {
	try {
		const text = await readFile(file, 'utf8');
		const value = parsedJson(text);
		const images = isObject(value) ? value['images'] : undefined;
		if (isObject(images)) return new Map(Object.entries(images).flatMap(([id, image]) => (isRemembered(image) ? [[id, image]] : [])));
		onWarning(`${file} is damaged: the images that came before are kept for ever`);
	} catch (error) {
		if (!hasCode(error, 'ENOENT')) onWarning(`${explained(error)}: the images that came before are kept for ever`);
	}
	return new Map();
}

const isRemembered = (value: unknown): value is RememberedImage =>
	isObject(value) &&
	typeof value['usedAtMs'] === 'number' &&
	Array.isArray(value['names']) &&
	value['names'].every(name => typeof name === 'string');
