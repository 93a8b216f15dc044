// One pull of one image through the Engine: to its end, or until nothing is heard of it for too long.

import {limits} from '../../../api/limits.js';
import {isObject} from '../../../api/object.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Engine} from '../engine/engine.js';
import type {Credentials} from './credentials.js';
import type {ImageReference} from './image-reference.js';
import {jsonLines} from './json-lines.js';
import {createProgress, type PullProgress} from './pull-progress.js';

/** What the registry or the Engine said; nothing secret is in it. */
export class PullError extends Error {}

export type PullOptions = {
	readonly engine: Engine;
	readonly clock: Clock;
	readonly image: ImageReference;
	readonly credentials: Credentials | undefined;
	/** Called at most every `imageNewsMs`. */
	readonly onProgress: (progress: PullProgress) => void;
	/** Ends the pull. */
	readonly signal: AbortSignal;
};

/** Resolves once the Engine has all of it. Rejects with a PullError. */
export async function pullImage(options: PullOptions): Promise<void> {
	const {image, credentials} = options;
	const stall = stallOf(options);
	try {
		const stream = await stall.opened(signal => open(options, signal));
		await read(stream, options, stall.again);
	} catch (error) {
		throw new PullError(stall.isOver() ? silence(image) : withoutSecrets(wordsOf(error), credentials));
	} finally {
		stall.end();
	}
}

const silence = ({registry}: ImageReference): string =>
	`nothing was heard of the pull for ${limits.imageStallMs / 1_000} s; the Engine or the registry "${registry}" does not answer`;

const open = ({engine, image, credentials}: PullOptions, abortSignal: AbortSignal): Promise<NodeJS.ReadableStream> =>
	engine.open('pull', limits.imageStallMs, docker => docker.createImage(credentials, {fromImage: image.name, abortSignal}));

/** Ends what hangs: the call, and the stream that came of it. */
function stallOf({clock, signal}: PullOptions) {
	const abort = new AbortController();
	let isOver = false;
	let cancel = (): void => undefined;
	const stop = (): void => abort.abort();
	const again = (): void => {
		cancel();
		cancel = clock.after(limits.imageStallMs, () => {
			isOver = true;
			stop();
		});
	};
	if (signal.aborted) stop();
	signal.addEventListener('abort', stop, {once: true});
	return {
		isOver: () => isOver,
		again,
		async opened(run: (signal: AbortSignal) => Promise<NodeJS.ReadableStream>): Promise<NodeJS.ReadableStream> {
			again();
			const stream = await run(abort.signal);
			const destroy = (): void => void (stream as Partial<{destroy: (error: Error) => void}>).destroy?.(new Error('the pull was ended'));
			if (abort.signal.aborted) destroy();
			else abort.signal.addEventListener('abort', destroy, {once: true});
			return stream;
		},
		end() {
			cancel();
			signal.removeEventListener('abort', stop);
		},
	};
}

async function read(stream: NodeJS.ReadableStream, {clock, onProgress}: PullOptions, onLine: () => void): Promise<void> {
	const progress = createProgress();
	let toldMs = Number.NEGATIVE_INFINITY;
	for await (const line of jsonLines(stream as AsyncIterable<Uint8Array>)) {
		onLine();
		const problem = problemIn(line);
		if (problem !== undefined) throw new PullError(problem);
		progress.take(line);
		if (clock.monotonicMs() - toldMs < limits.imageNewsMs) continue;
		toldMs = clock.monotonicMs();
		onProgress(progress.now());
	}
}

/** What the Engine says of a failure, in the middle of its stream. */
export function problemIn(line: unknown): string | undefined {
	if (!isObject(line) || (line['error'] === undefined && line['errorDetail'] === undefined)) return undefined;
	const {error, errorDetail} = line;
	const said = isObject(errorDetail) ? errorDetail['message'] : error;
	return typeof said === 'string' ? said : 'the Engine gives no reason';
}

/** Without what the client of the Engine puts before them: `pull: (HTTP code 404) unexpected - `. */
export const wordsOf = (error: unknown): string =>
	(error instanceof Error ? error.message : String(error))
		.replace(/^[\w /-]*: \(HTTP code \d+\) [\w ]* - /, '')
		// eslint-disable-next-line no-control-regex
		.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
		.trim()
		.slice(0, limits.imageWordsCharacters);

/** A registry may say anything, also what it was told. */
function withoutSecrets(words: string, credentials: Credentials | undefined): string {
	if (credentials === undefined) return words;
	const {username, password} = credentials;
	const pair = Buffer.from(`${username}:${password}`).toString('base64');
	return [password, encodeURIComponent(password), pair].reduce(
		(text, secret) => (secret === '' ? text : text.replaceAll(secret, '…')),
		words,
	);
}
