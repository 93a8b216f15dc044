// `troupe image`: the images of nodes: which there are, and how some more come to them.

import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {progressText} from '../../actors/node/containers/container-status.js';
import type {ImageNews} from '../../api/image-news.js';
import {didYouMean} from '../../api/suggest.js';
import type {Client} from '../client.js';
import {withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {reasonOf} from '../files/bounded-file.js';
import {bringTo, type ImageWish} from '../image/bring.js';
import {everywhere, tellResults} from '../image/everywhere.js';
import {listImages} from '../image/list.js';
import {imageNodes} from '../image/nodes.js';
import {amount} from '../screen/amount.js';

type Verb = (client: Client, invocation: Invocation, words: readonly string[]) => Promise<number>;

const verbs: {readonly [name: string]: Verb} = {ls, pull, load};

export function run(invocation: Invocation): Promise<number> {
	const [name = '', ...words] = invocation.inputs;
	const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
	if (verb === undefined) {
		const names = Object.keys(verbs);
		throw usageError(
			name === '' ? 'ls, pull or load? as in: troupe image ls' : `unknown verb "${name}" of image${didYouMean(name, names)}`,
		);
	}
	return withClient(invocation, client => verb(client, invocation, words));
}

async function ls(client: Client, invocation: Invocation, words: readonly string[]): Promise<number> {
	if (words.length > 0) throw usageError(`ls takes no "${words.join(' ')}"; --node says of which node`);
	return listImages(client, invocation, await imageNodes(client, invocation.flags.texts('node')), Date.now());
}

async function pull(client: Client, {flags, terminal}: Invocation, words: readonly string[]): Promise<number> {
	const [image, ...more] = words;
	if (image === undefined || more.length > 0) throw usageError('pull takes one image, as in: troupe image pull busybox:1.36');
	const nodes = await imageNodes(client, flags.texts('node'));
	const results = await everywhere(terminal, `pulling ${image}`, nodes, async (node, show) => {
		let pulled: ImageNews | undefined;
		await bringTo(client, node, {action: 'pull', image}, news => {
			if ('progress' in news) show(progressText({percent: undefined, totalBytes: undefined, ...news.progress}));
			else pulled = news;
		});
		return `pulled ${pulled === undefined ? image : textOf(pulled)}`;
	});
	return tellResults(terminal, results);
}

async function load(client: Client, {flags, terminal}: Invocation, words: readonly string[]): Promise<number> {
	const [file, ...more] = words;
	if (file === undefined || more.length > 0)
		throw usageError('load takes one file, which docker save wrote, as in: troupe image load app.tar; or - for stdin');
	const {archive, bytes} = await archiveOf(file, terminal.input);
	const nodes = await imageNodes(client, flags.texts('node'));
	if (bytes === undefined && nodes.length > 1)
		throw usageError(
			`${file === '-' ? 'stdin' : file} can be read once, and these are ${nodes.length} nodes: name one with --node, or load a file`,
		);
	const results = await everywhere(terminal, `loading ${path.basename(file)}`, nodes, async (node, show) => {
		const loaded: string[] = [];
		const wish: ImageWish = {action: 'load', archive: () => counted(archive(), bytes, show)};
		await bringTo(client, node, wish, news => {
			if ('image' in news) loaded.push(textOf(news));
		});
		return `loaded ${loaded.join(', ')}`;
	});
	// Whoever writes it may write no more, and not end it: the command would wait.
	if (file === '-') terminal.input.destroy();
	return tellResults(terminal, results);
}

const textOf = (news: ImageNews): string => ('image' in news ? `${news.image} (${amount(news.bytes)})` : '');

/** `bytes`: undefined where it can be read only once. */
type Archive = {readonly archive: () => AsyncIterable<Uint8Array>; readonly bytes: number | undefined};

async function archiveOf(file: string, input: AsyncIterable<Uint8Array>): Promise<Archive> {
	if (file === '-') return {archive: () => input, bytes: undefined};
	const wrong = (error: unknown): Error => failedError(`${file}: ${reasonOf(error)}`);
	const found = await stat(file).catch((error: unknown) => Promise.reject(wrong(error)));
	if (found.isDirectory()) throw failedError(`${file}: is a folder; load takes what docker save wrote`);
	const archive = async function* (): AsyncGenerator<Uint8Array> {
		try {
			for await (const piece of createReadStream(file)) yield piece as Uint8Array;
		} catch (error) {
			throw wrong(error);
		}
	};
	return {archive, bytes: found.isFile() ? found.size : undefined};
}

async function* counted(
	archive: AsyncIterable<Uint8Array>,
	bytes: number | undefined,
	show: (text: string) => void,
): AsyncGenerator<Uint8Array> {
	let sent = 0;
	for await (const piece of archive) {
		yield piece;
		sent += piece.length;
		show(bytes === undefined ? amount(sent) : `${Math.floor((100 * sent) / bytes)} %, ${amount(sent)} of ${amount(bytes)}`);
	}
	show('all sent, unpacking');
}
