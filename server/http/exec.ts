// `.../pods/P/exec` and `.../pods/P/attach`: a program beside a container's, or the container itself, over a WebSocket.
//
// Everything that can be refused is refused before the upgrade, as a Status. A client that then falls back to SPDY by POST comes
// here as well and hears the same.

import type {ContainerId, ExecOutput, LogChunk} from '../../actors/node/runtime/runtime-port.js';
import {succeeded, type Outcome} from '../../api/errors.js';
import type {Container, Pod} from '../../api/kinds/pod.js';
import {limits} from '../../api/limits.js';
import {entryOf} from './entry.js';
import type {Backend, Exchange, Target} from './exchange.js';
import {askNode} from './node-ask.js';
import {refusal, valueOf} from './outcome.js';
import {containerOf, nodeOf, statusOfContainer} from './pod-container.js';
import {countOf, flagOf} from './query.js';
import type {Remote, Wanted} from './remote-session.js';
import {base64, remoteOf, type Asker} from './node-session.js';
import {requireSession, takeOver} from './session-door.js';
import {causeOf} from './write.js';

/** The container that is meant, and where it runs. */
type Place = {readonly node: string; readonly id: ContainerId; readonly spec: Container};

/** Runs a program beside the container's. */
export async function exec(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {query} = exchange;
	const argv = query.getAll('command');
	if (argv.length === 0 || argv[0] === '') throw refusal('you must specify at least one command for the container');
	if (argv.some(word => word.includes('\0'))) throw refusal('a word of the command holds a NUL character, which no program can be given');
	const wanted = wantedOf(query);
	const place = placeOf(backend, target, query, 'exec into');
	requireSession(backend, exchange);
	const ask = asker(backend, exchange, target, place);
	const [rows, columns] = [countOf(query, 'rows') ?? 24, countOf(query, 'columns') ?? 80];
	const request = {id: place.id, argv, tty: wanted.tty, stdin: wanted.stdin, rows, columns};
	const {session} = valueOf(await ask<{readonly session: string}>({type: 'execOpen', request}, limits.execOpenWaitMs));
	takeOver(backend, exchange, remoteOf(ask, session), wanted);
}

/** The output of the container from now on, and its stdin. */
export async function attach(backend: Backend, exchange: Exchange, target: Target): Promise<void> {
	const {query} = exchange;
	const asked = wantedOf(query);
	const place = placeOf(backend, target, query, 'attach to');
	if (asked.stdin && place.spec.stdin !== true)
		throw refusal(`container ${place.id.container} takes no input: "stdin: true" is missing in its spec`);
	requireSession(backend, exchange);
	const ask = asker(backend, exchange, target, place);
	const remote = attached(backend, exchange, target, place, ask);
	// From where it stands now: what is written from here on is not missed however long the handshake takes.
	valueOf(await remote.read());
	// One stream is kept of a container's output, whatever it was written to.
	takeOver(backend, exchange, remote, {...asked, tty: asked.tty && place.spec.tty === true});
}

function attached(backend: Backend, exchange: Exchange, target: Target, {node, id, spec}: Place, ask: Asker): Remote {
	let from: LogChunk | undefined;
	const nothing = (): Promise<Outcome<unknown>> => Promise.resolve(succeeded(null));
	const send = (bytes: Uint8Array, isLast: boolean): Promise<Outcome<unknown>> =>
		bytes.length === 0 && !isLast ? nothing() : ask({type: 'stdinWrite', id, data: base64(bytes), isLast}, limits.execInputStallMs);
	return {
		async read() {
			const waitMs = from === undefined ? 0 : limits.logFollowMs;
			const request = {
				id,
				previous: false,
				offset: from?.nextOffset,
				tailLines: from === undefined ? 0 : undefined,
				maxBytes: limits.logChunkBytes,
				waitMs,
			};
			const message = {type: 'readLog', request};
			const outcome = await askNode<LogChunk>(backend, {node, message, waitMs, cause: causeOf(exchange, target), what: 'its output is'});
			if (!outcome.ok) return outcome;
			const chunk = outcome.value;
			// The next attempt is another program: this one is over.
			if (from !== undefined && chunk.attempt !== from.attempt) return succeeded({parts: [], end: {exitCode: 0}});
			from = chunk;
			const parts: ExecOutput['parts'] = [{stream: 'stdout', data: chunk.data}];
			return succeeded({parts, end: chunk.end ? {exitCode: 0} : undefined});
		},
		keep: nothing,
		// The end of the client that attached is the end of the container's input only where that is to be had once.
		write: (bytes, isLast) => send(bytes, isLast && spec.stdinOnce === true),
		resize: nothing,
		close: () => (spec.stdinOnce === true ? send(new Uint8Array(), true) : nothing()),
	};
}

function asker(backend: Backend, exchange: Exchange, target: Target, {node}: Place): Asker {
	const cause = causeOf(exchange, target);
	return (message, waitMs = 0) => askNode(backend, {node, message, waitMs, cause, what: 'its containers are'});
}

// ---- what is asked for -----------------------------------------------------------------------------------------------------

function wantedOf(query: URLSearchParams): Wanted {
	const wanted = {
		stdin: flagOf(query, 'stdin'),
		stdout: flagOf(query, 'stdout'),
		stderr: flagOf(query, 'stderr'),
		tty: flagOf(query, 'tty'),
	};
	if (!wanted.stdin && !wanted.stdout && !wanted.stderr) throw refusal('at least one of stdin, stdout and stderr must be true');
	if (wanted.tty && wanted.stderr) throw refusal('tty and stderr cannot both be true: a terminal has one output');
	return wanted;
}

function placeOf(backend: Backend, target: Target, query: URLSearchParams, deed: string): Place {
	const pod = entryOf(backend, target).object as Pod;
	const {name, uid} = pod.metadata;
	const phase = pod.status?.phase;
	if (phase === 'Succeeded' || phase === 'Failed')
		throw refusal(`cannot ${deed} a container in a completed pod; current phase is ${phase}`);
	const container = containerOf(pod, query.get('container') ?? '');
	const node = nodeOf(pod);
	const state = statusOfContainer(pod, container)?.state;
	if (state?.running === undefined) {
		const reason = state?.waiting?.reason ?? (state?.terminated === undefined ? 'ContainerCreating' : 'it has ended');
		throw refusal(`cannot ${deed} container "${container}" in pod "${name}", which does not run: ${reason}`);
	}
	const spec = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].find(each => each.name === container);
	if (spec === undefined) throw refusal(`container ${container} is not valid for pod ${name}`);
	return {node, id: {uid, container}, spec};
}
