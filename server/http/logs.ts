// `GET .../pods/P/log`: the raw output of one container, pulled from its node piece by piece.
//
// Nothing is asked for before the last piece was taken by the reader, so neither a slow reader nor a fast writer fills any
// buffer; when the reader goes, the asking ends.

import {runtimePath} from '../../actors/addresses.js';
import type {LogChunk, LogRequest} from '../../actors/node/runtime-port.js';
import {AppError} from '../../api/errors.js';
import {address} from '../../api/keys.js';
import type {Pod, ContainerStatus} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {valueOf} from './outcome.js';
import {countOf, flagOf} from './query.js';
import {write} from './stream.js';
import {causeOf} from './write.js';

type LogOptions = {
	readonly container: string;
	readonly follow: boolean;
	readonly previous: boolean;
	readonly tailLines: number | undefined;
	readonly limitBytes: number | undefined;
};

type Source = {readonly node: string; readonly uid: string; readonly options: LogOptions};

/** Parameters of Kubernetes that the nodes' logs cannot answer yet. Ignoring one would show lines that were not asked for. */
const notHonoured = ['sinceSeconds', 'sinceTime', 'timestamps', 'stream'];

/** Answers with the log as text/plain, without framing; with `follow` until the attempt ends or the reader goes. */
export async function readLog(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const source = sourceOf(backend, exchange, target);
	const ask = asker(backend, exchange, target, source);
	// The first piece is asked for before the head of the answer is sent: its failure can still be a Status.
	const first = await ask({offset: undefined, tailLines: source.options.tailLines, previous: source.options.previous, waitMs: 0});
	const {response, identity} = exchange;
	let isOpen = true;
	const stop = (): void => void (isOpen = false);
	response.once('close', stop);
	backend.streams.add(response, identity.name, stop);
	response.writeHead(200, {'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, private'});
	response.flushHeaders();
	try {
		await copy(exchange, source.options, first, ask, () => isOpen);
		response.end();
	} catch (error) {
		// Cut without the closing chunk: the reader must not take a broken log for a whole one.
		response.destroy();
		throw error;
	}
}

type Piece = {
	readonly offset: number | undefined;
	readonly tailLines: number | undefined;
	readonly previous: boolean;
	readonly waitMs: number;
};
type Asker = (piece: Piece) => Promise<LogChunk>;

async function copy({response}: Exchange, options: LogOptions, first: LogChunk, ask: Asker, isOpen: () => boolean): Promise<void> {
	let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
	let previous = options.previous;
	for (let chunk = first; ;) {
		const bytes = Buffer.from(chunk.data, 'base64').subarray(0, Math.min(left, limits.logChunkBytes));
		left -= bytes.length;
		if (bytes.length > 0 && !(await write(response, bytes))) return;
		if (chunk.end || left <= 0 || !isOpen()) return;
		if (bytes.length === 0 && !options.follow) return;
		const piece = {offset: chunk.nextOffset, tailLines: undefined, waitMs: options.follow && bytes.length === 0 ? limits.logFollowMs : 0};
		chunk = await ask({...piece, previous});
		if (chunk.attempt === first.attempt || previous) continue;
		// The container was started anew between two pieces: what is left of the attempt that was begun is the previous one's.
		previous = true;
		chunk = await ask({...piece, previous, waitMs: 0});
		if (chunk.attempt !== first.attempt) return;
	}
}

function asker(backend: Backend, exchange: Exchange, target: Target, {node, uid, options}: Source): Asker {
	const cause = causeOf(exchange, target);
	return async ({offset, tailLines, previous, waitMs}) => {
		const request: LogRequest = {
			id: {uid, container: options.container},
			previous,
			offset,
			tailLines,
			maxBytes: limits.logChunkBytes,
			waitMs,
		};
		const message = {type: 'readLog', request};
		const outcome = await backend.control.ask<LogChunk>(address(node, runtimePath), message, {
			deadlineMs: waitMs + limits.askDeadlineMs,
			cause,
		});
		if (!outcome.ok && ['ERR_NO_SUCH_ACTOR', 'ERR_TIMEOUT', 'ERR_OUTCOME_UNKNOWN'].includes(outcome.error.code))
			throw new AppError('ERR_NOT_REACHABLE', {message: `the node "${node}" of this pod is not reachable, so its logs are not either`});
		return valueOf(outcome);
	};
}

const refusal = (message: string): AppError => new AppError('ERR_BAD_REQUEST', {message});

/** Where the log is, and what of it is wanted; refusals in kubectl's words. */
function sourceOf(backend: Backend, {query}: Exchange, target: Target): Source {
	for (const name of notHonoured)
		if (query.has(name) && query.get(name) !== '' && query.get(name) !== 'false')
			throw refusal(`${name} is not supported yet for logs; leave it out`);
	const pod = entryOf(backend, target).object as Pod;
	const container = containerOf(pod, query.get('container') ?? '');
	const previous = flagOf(query, 'previous');
	const node = pod.spec?.nodeName ?? '';
	if (node === '') throw refusal(`pod ${pod.metadata.name} does not have a host assigned`);
	checkState(pod, container, previous);
	const options = {
		container,
		previous,
		follow: flagOf(query, 'follow'),
		tailLines: countOf(query, 'tailLines'),
		limitBytes: countOf(query, 'limitBytes'),
	};
	return {node, uid: pod.metadata.uid, options};
}

function containerOf({metadata, spec}: Pod, asked: string): string {
	const names = (spec?.containers ?? []).map(({name}) => name);
	const initNames = (spec?.initContainers ?? []).map(({name}) => name);
	if (asked !== '') {
		if (![...names, ...initNames].includes(asked)) throw refusal(`container ${asked} is not valid for pod ${metadata.name}`);
		return asked;
	}
	const [only] = names;
	if (only !== undefined && names.length === 1) return only;
	const inits = initNames.length === 0 ? '' : ` or one of the init containers: [${initNames.join(' ')}]`;
	throw refusal(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]${inits}`);
}

function checkState({metadata, status}: Pod, container: string, previous: boolean): void {
	const statuses: readonly ContainerStatus[] = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
	const found = statuses.find(({name}) => name === container);
	if (previous && found?.lastState?.terminated === undefined)
		throw refusal(`previous terminated container "${container}" in pod "${metadata.name}" not found`);
	const hasRun = found?.state?.running ?? found?.state?.terminated ?? found?.lastState?.terminated;
	if (!previous && hasRun === undefined) {
		const reason = found?.state?.waiting?.reason ?? 'ContainerCreating';
		throw refusal(`container "${container}" in pod "${metadata.name}" is waiting to start: ${reason}`);
	}
}
