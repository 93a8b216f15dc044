// The client's end of a session that brings an image to a node.

import type {ImageBuild, ImageNews} from '../../api/image-news.js';
import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import {remoteProtocol} from '../../api/remote-channels.js';
import {parsedJson} from '../../api/value-or.js';
import type {Client, Query} from '../client.js';
import {failedError} from '../command.js';
import {openSession} from '../exec/remote.js';

export type ImageWish =
	| {readonly action: 'pull'; readonly image: string}
	/** The archive is read anew for each node. */
	| {readonly action: 'load'; readonly archive: () => AsyncIterable<Uint8Array>}
	| {readonly action: 'build'; readonly build: ImageBuild; readonly archive: () => AsyncIterable<Uint8Array>};

export const imagesPath = (node: string): string => `/troupe/v1/nodes/${encodeURIComponent(node)}/images`;

/** Resolves when the node has it. Rejects with AppError in the words of the Engine. */
export async function bringTo(client: Client, node: string, wish: ImageWish, onNews: (news: ImageNews) => void): Promise<void> {
	const socket = await client.socket({path: `${imagesPath(node)}/${wish.action}`, query: queryOf(wish)}, remoteProtocol);
	let broken: unknown;
	// What was cut off must not be taken for all of it.
	const input =
		wish.action === 'pull'
			? undefined
			: cutting(wish.archive(), error => {
					broken = error;
					socket.cut();
				});
	let said = '';
	const news = newsReader(onNews);
	const {ended} = openSession(socket, {
		input,
		output: bytes => Promise.resolve(news(bytes)),
		errors(bytes) {
			said = `${said}${new TextDecoder().decode(bytes)}`.slice(0, limits.warningCharacters);
			return Promise.resolve();
		},
	});
	const code = await ended.catch((error: unknown) => {
		throw broken ?? error;
	});
	if (code !== 0) throw failedError(said.trim() === '' ? `the node ended with ${code}, and gave no reason` : said.trim());
}

async function* cutting(input: AsyncIterable<Uint8Array>, onError: (error: unknown) => void): AsyncGenerator<Uint8Array> {
	try {
		yield* input;
	} catch (error) {
		onError(error);
		throw error;
	}
}

/** Lines of JSON, however they are cut; what is none is passed over. */
function newsReader(onNews: (news: ImageNews) => void): (bytes: Uint8Array) => void {
	const decoder = new TextDecoder();
	let rest = '';
	return bytes => {
		const lines = (rest + decoder.decode(bytes, {stream: true})).split('\n');
		rest = (lines.pop() ?? '').slice(0, limits.engineLineCharacters * 2);
		for (const line of lines) {
			const news = parsedJson(line);
			if (isObject(news)) onNews(news as ImageNews);
		}
	};
}

function queryOf(wish: ImageWish): Query {
	switch (wish.action) {
		case 'pull':
			return {image: wish.image};
		case 'load':
			return {};
		case 'build': {
			const {tag, dockerfile, target, args, labels, isOffline, noCache, pulls} = wish.build;
			const pairs = (of: Readonly<Record<string, string>>): readonly string[] =>
				Object.entries(of).map(([key, value]) => `${key}=${value}`);
			return {tag, dockerfile, target, arg: pairs(args), label: pairs(labels), offline: isOffline, noCache, pull: pulls};
		}
	}
}
