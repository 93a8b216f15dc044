// Brings an image to an Engine for people: pulled, loaded from an archive, or built. What is told on the way is `ImageNews`.

import {AppError} from '../../../api/errors.js';
import type {ImageBuild} from '../../../api/image-news.js';
import {limits} from '../../../api/limits.js';
import {isObject} from '../../../api/object.js';
import type {ImageRequest} from '../../../actors/node/runtime/runtime-port.js';
import {hasCode} from '../../../system/files/errno.js';
import type {Clock} from '../../../system/time/clock.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {ensureImage, findImage, type EnsureOptions} from './ensure.js';
import type {Bringing} from './image-sessions.js';
import {parseImageReference} from './image-reference.js';
import {jsonLines} from './json-lines.js';
import {createProgress} from './pull-progress.js';
import {problemIn, PullError} from './pull.js';

export type BringOptions = EnsureOptions & {
	readonly clock: Clock;
	/** It came in another way than by a pull: it cannot be had again, and is kept. */
	readonly onKept: (id: string) => void;
};

/** Resolves when it is there. Rejects with words for people. */
export function bringImage(options: BringOptions, request: ImageRequest, bringing: Bringing): Promise<void> {
	switch (request.action) {
		case 'pull':
			return pull(options, request.image, bringing);
		case 'load':
			return load(options, bringing);
		case 'build':
			return build(options, request, bringing);
	}
}

/** With the pulls that pods wait for: one that is under way is joined, and goes on when its client goes. */
async function pull(options: BringOptions, image: string, {tell, signal}: Bringing): Promise<void> {
	const wanted = {image, policy: 'Always', namespace: '', secrets: []} as const;
	const pulled = await untilAborted(
		ensureImage(options, wanted, progress => void tell({progress})),
		signal,
	);
	if (!pulled.ok) throw AppError.of(pulled.error);
	await tellOf(options, image, tell);
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
	return new Promise((resolve, reject) => {
		signal.addEventListener('abort', () => reject(signal.reason as Error), {once: true});
		work.then(resolve, reject);
	});
}

async function load(options: BringOptions, bringing: Bringing): Promise<void> {
	const names: string[] = [];
	const take = (text: string): void => {
		const name = /^Loaded image(?: ID)?: (\S+)\s*$/.exec(text)?.[1];
		if (name !== undefined && names.length < limits.imagesLoaded) names.push(name);
	};
	try {
		await follow(options, bringing, take, (docker, input, abortSignal) => docker.loadImage(input, {abortSignal, quiet: false}));
	} catch (error) {
		throw isWithoutImages(error) ? new Error(noImages) : error;
	}
	if (names.length === 0) throw new Error(noImages);
	for (const name of names) await keep(options, name, bringing);
}

const noImages = 'there is no image in the archive: it has to be one that docker save wrote';

/** An Engine looks for the lists of two formats, and tells the file that it has not found. */
const isWithoutImages = (error: unknown): boolean =>
	error instanceof Error && /\/docker-import-\d+\/(?:repositories|manifest\.json): no such file/.test(error.message);

async function build(options: BringOptions, wanted: ImageBuild, bringing: Bringing): Promise<void> {
	const tag = parseImageReference(wanted.tag)?.name ?? wanted.tag;
	const take = (said: string): Promise<void> => bringing.tell({said});
	await follow(options, bringing, take, (docker, input, abortSignal) =>
		docker.buildImage(input, {
			t: tag,
			dockerfile: wanted.dockerfile,
			...(wanted.target === undefined ? {} : {target: wanted.target}),
			buildargs: wanted.args,
			labels: wanted.labels,
			...(wanted.isOffline === true ? {networkmode: 'none'} : {}),
			...(wanted.noCache === true ? {nocache: true} : {}),
			...(wanted.pulls === true ? {pull: true} : {}),
			rm: true,
			forcerm: true,
			abortSignal,
		}),
	);
	await keep(options, tag, bringing);
}

type Opening = (
	docker: Parameters<Parameters<Engine['open']>[2]>[0],
	input: NodeJS.ReadableStream,
	signal: AbortSignal,
) => Promise<NodeJS.ReadableStream>;

/** Sends the input, and takes what the Engine says meanwhile. Rejects with what it says of a failure. */
async function follow(
	options: BringOptions,
	bringing: Bringing,
	take: (text: string) => Promise<void> | void,
	open: Opening,
): Promise<void> {
	try {
		await taken(options, bringing, take, open);
	} catch (error) {
		throw isCut(error) ? new Error("Docker's Engine closed the connection") : error;
	}
}

/** What node:http says of it is "aborted". */
const isCut = (error: unknown): boolean => hasCode(error, 'ECONNRESET') || (error instanceof EngineError && error.fault === 'unreachable');

async function taken(
	{engine, clock}: BringOptions,
	{input, tell, signal}: Bringing,
	take: (text: string) => Promise<void> | void,
	open: Opening,
): Promise<void> {
	if (input === undefined) throw new Error('there is nothing to send');
	const stream = await engine.open('images', limits.imageSessionMs, docker => open(docker, input.stream, signal));
	const progress = createProgress();
	let toldMs = clock.monotonicMs();
	for await (const line of jsonLines(stream as AsyncIterable<Uint8Array>)) {
		const problem = problemIn(line);
		if (problem !== undefined) throw new PullError(problem);
		const {stream: text} = isObject(line) ? line : {};
		if (typeof text === 'string') await take(text);
		progress.take(line);
		if (clock.monotonicMs() - toldMs < limits.imageNewsMs || progress.now().bytes === 0) continue;
		toldMs = clock.monotonicMs();
		await tell({progress: progress.now()});
	}
}

async function keep(options: BringOptions, name: string, {tell}: Bringing): Promise<void> {
	const id = await tellOf(options, name, tell);
	options.onKept(id);
}

async function tellOf({engine}: BringOptions, name: string, tell: Bringing['tell']): Promise<string> {
	const found = await findImage(engine, parseImageReference(name)?.name ?? name);
	if (found === undefined) throw new Error(`the Engine says that it has "${name}", and does not have it`);
	await tell({image: name, ...found});
	return found.id;
}
