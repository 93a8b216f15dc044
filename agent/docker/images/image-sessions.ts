// Sessions in which people bring an image to an Engine: by a pull, an archive of `docker save`, or a build.
//
// What it keeps true: nothing of what comes in is kept here but what the Engine takes next; each ends, with words, when its client goes or sends
// nothing, when the Engine does not answer, and after `imageSessionMs`. What the Engine has half then it throws away by itself.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import type {ImageNews} from '../../../api/image-news.js';
import {limits} from '../../../api/limits.js';
import {shownName} from '../../../api/shown.js';
import type {ImageRequest} from '../../../actors/node/runtime/runtime-port.js';
import type {Clock} from '../../../system/time/clock.js';
import {systemRandom} from '../../../system/time/random.js';
import type {Sessions} from '../../exec-sessions.js';
import {nameForm} from './ensure.js';
import {createImageInput, type ImageInput} from './image-input.js';
import {parseImageReference} from './image-reference.js';
import {wordsOf} from './pull.js';

/** What a session does, and what it does it with. */
export type Bringing = {
	/** Undefined: of a pull. */
	readonly input: ImageInput | undefined;
	/** Resolves when more can be told. */
	readonly tell: (news: ImageNews) => Promise<void>;
	/** Ends it. */
	readonly signal: AbortSignal;
};

export type ImageSessionOptions = {
	readonly sessions: Sessions;
	readonly clock: Clock;
	/** Why the Engine does not answer; undefined: it does. */
	readonly engineProblem: () => string | undefined;
	/** Rejects with words for people. */
	readonly bring: (request: ImageRequest, bringing: Bringing) => Promise<void>;
};

export type ImageSessions = {readonly open: (request: ImageRequest) => Outcome<{readonly session: string}>};

export function createImageSessions(options: ImageSessionOptions): ImageSessions {
	let running = 0;
	return {
		open(request) {
			const wanted = request.action === 'pull' ? request.image : request.action === 'build' ? request.tag : undefined;
			if (wanted !== undefined && parseImageReference(wanted) === undefined)
				return failed('ERR_IMAGE_NAME', {image: shownName(wanted), message: nameForm});
			if (running >= limits.imageSessions) return failed('ERR_BUSY', {address: 'images', waiting: running});
			running += 1;
			return succeeded({session: begin(options, request, () => (running -= 1))});
		},
	};
}

function begin(options: ImageSessionOptions, request: ImageRequest, onOver: () => void): string {
	const id = systemRandom.uuid();
	const over = new AbortController();
	const gate = createGate();
	const input = inputOf(request, options.clock);
	const end = (why: string): void => over.abort(new Error(why));
	const feed = options.sessions.add({
		id,
		program: {pause: closed => gate.pause(closed), kill: () => end('its client has gone'), drop: () => gate.pause(false)},
		stdin: input?.stdin,
		resize: undefined,
		onGone: () => undefined,
	});
	over.signal.addEventListener('abort', () => input?.end());
	const stopWatching = watch(options, input, end);
	const tell = (news: ImageNews): Promise<void> => {
		if (!over.signal.aborted) feed.output('stdout', Buffer.from(`${JSON.stringify(news)}\n`));
		return gate.opened();
	};
	options
		.bring(request, {input, tell, signal: over.signal})
		.then(
			() => feed.end(0),
			(error: unknown) => {
				const why: unknown = over.signal.aborted ? over.signal.reason : (input?.problem() ?? error);
				feed.output('stderr', Buffer.from(`${wordsOf(why)}\n`));
				feed.end(1);
			},
		)
		.finally(() => {
			stopWatching();
			input?.end();
			onOver();
		});
	return id;
}

function inputOf({action}: ImageRequest, clock: Clock): ImageInput | undefined {
	switch (action) {
		case 'pull':
			return undefined;
		case 'load':
			return createImageInput(clock, limits.imageArchiveBytes, 'the archive');
		case 'build':
			return createImageInput(clock, limits.buildContextBytes, 'the folder');
	}
}

/** Ends what goes on no more. A pull has its own end, and is looked at for the Engine alone. */
function watch({clock, engineProblem}: ImageSessionOptions, input: ImageInput | undefined, end: (why: string) => void): () => void {
	const untilMs = clock.monotonicMs() + limits.imageSessionMs;
	let cancel = clock.after(limits.imageSessionLookMs, look);
	function look(): void {
		const problem = engineProblem() ?? input?.stall();
		if (problem !== undefined) end(problem);
		else if (clock.monotonicMs() > untilMs) end(`it took longer than ${limits.imageSessionMs / 1_000} s`);
		else cancel = clock.after(limits.imageSessionLookMs, look);
	}
	return () => cancel();
}

/** Holds up while its reader is behind. */
function createGate() {
	let isClosed = false;
	let waiting: (() => void)[] = [];
	return {
		pause(closed: boolean): void {
			isClosed = closed;
			if (closed) return;
			const all = waiting;
			waiting = [];
			for (const resolve of all) resolve();
		},
		opened: (): Promise<void> => (isClosed ? new Promise(resolve => void waiting.push(resolve)) : Promise.resolve()),
	};
}
