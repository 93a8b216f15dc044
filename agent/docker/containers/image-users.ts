// What an image says of its users, read by way of a container of it that never starts; remembered, since an image does not change.

import type {Readable} from 'node:stream';
import {limits} from '../../../api/limits.js';
import {systemRandom} from '../../../system/time/random.js';
import {remove} from '../engine/calls.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {labels} from '../engine/names.js';
import type {ImageUsers} from './identity.js';

export type ImageUsersReader = {
	/** Rejects with EngineErrors. */
	readonly read: (image: string) => Promise<ImageUsers>;
	/** What its containers have as label `sandbox`: those of an earlier agent have another one. */
	readonly mark: string;
};

export function createImageUsers(engine: Engine, owner: string): ImageUsersReader {
	const known = new Map<string, ImageUsers>();
	const mark = `look-${systemRandom.uuid()}`;
	return {
		mark,
		async read(image) {
			const {Id, Config} = await engine.call('look at an image', limits.engineAnswerMs, docker => docker.getImage(image).inspect());
			const there = known.get(Id);
			if (there !== undefined) return there;
			const files = await readFiles(engine, {[labels.owner]: owner, [labels.sandbox]: mark}, Id);
			const users = {user: Config.User, ...files};
			if (known.size >= limits.imageUsersKept) known.clear();
			known.set(Id, users);
			return users;
		},
	};
}

async function readFiles(
	engine: Engine,
	marks: Readonly<Record<string, string>>,
	image: string,
): Promise<Pick<ImageUsers, 'passwd' | 'group'>> {
	const name = `troupe_users_${systemRandom.uuid()}`;
	const {id} = await engine.call('create a container', limits.engineStartMs, docker =>
		// Of no pod: one that is left by an agent that dies here is removed by the next.
		docker.createContainer({name, Image: image, Cmd: ['/'], Labels: marks, NetworkDisabled: true}),
	);
	try {
		return {passwd: await readFile(engine, id, '/etc/passwd'), group: await readFile(engine, id, '/etc/group')};
	} finally {
		await remove(engine, id);
	}
}

/** '' where there is none, or a link. */
async function readFile(engine: Engine, id: string, file: string): Promise<string> {
	try {
		return await engine.open('read a file of an image', limits.engineAnswerMs, async docker => {
			const stream = (await docker.getContainer(id).getArchive({path: file})) as Readable;
			return firstFile(await whole(stream));
		});
	} catch (error) {
		if (error instanceof EngineError && error.fault === 'notFound') return '';
		throw error;
	}
}

async function whole(stream: Readable): Promise<Buffer> {
	const parts: Buffer[] = [];
	let size = 0;
	for await (const part of stream as AsyncIterable<Buffer>) {
		parts.push(part);
		size += part.length;
		if (size > limits.imageUsersBytes) throw new EngineError('refused', `a list of users is longer than ${limits.imageUsersBytes} bytes`);
	}
	return Buffer.concat(parts);
}

const block = 512;

/** The first file of an archive: POSIX ustar, with the headers that pax puts before. */
export function firstFile(archive: Buffer): string {
	for (let at = 0; at + block <= archive.length;) {
		const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8);
		const type = archive.toString('latin1', at + 156, at + 157);
		if (!Number.isSafeInteger(size)) return '';
		const from = at + block;
		if (type === '0' || type === '\0') return archive.toString('utf8', from, from + size);
		if (type !== 'x' && type !== 'g') return '';
		at = from + Math.ceil(size / block) * block;
	}
	return '';
}
