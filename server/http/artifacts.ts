// Artifacts, the code of functions, at the door: uploaded by who may write objects, fetched by nodes that have a pod of them.

import type {IncomingMessage} from 'node:http';
import {AppError} from '../../api/errors.js';
import {digestOfHex, isArtifactDigest} from '../../api/function-instance.js';
import {limits} from '../../api/limits.js';
import {artifactsResource, mayRequest} from '../../api/roles.js';
import type {ArtifactStore} from '../artifact-store.js';
import {artifactForNode} from '../node-artifacts.js';
import {ClientGone} from './body.js';
import type {Backend, Exchange, Handler} from './exchange.js';
import {refusal, valueOf} from './outcome.js';
import {sendJson} from './reply.js';
import {requireOwnRight} from './rights.js';
import {write} from './stream.js';

function storeOf({artifacts}: Backend): ArtifactStore {
	if (artifacts === undefined) throw new AppError('ERR_INTERNAL', {message: 'this server keeps no artifacts of functions'});
	return artifacts;
}

/** `GET /troupe/v1/artifacts/<digits>`: whether it is there, so that nobody uploads it in vain. */
export const findArtifact: Handler = (backend, exchange) => {
	requireOwnRight(exchange.identity, 'get', artifactsResource);
	const digest = digestIn(exchange);
	const store = storeOf(backend);
	const found = store.find(digest);
	if (found === undefined) throw notFound(digest);
	// Who may upload asks before naming it.
	if (mayRequest(exchange.identity, 'create', artifactsResource)) store.want(digest);
	sendJson(exchange.response, 200, {bytes: found.bytes});
};

/** `PUT /troupe/v1/artifacts/<digits>`: 201, or 200 where it is there already. */
export const uploadArtifact: Handler = async (backend, exchange) => {
	const {identity, request, response} = exchange;
	requireOwnRight(identity, 'create', artifactsResource);
	const digest = digestIn(exchange);
	const store = storeOf(backend);
	const found = store.find(digest);
	if (found !== undefined) {
		store.want(digest);
		if (!request.complete) response.setHeader('connection', 'close');
		request.resume();
		return sendJson(response, 200, {bytes: found.bytes});
	}
	const end = store.addUpload();
	if (end === undefined) {
		const message = `${limits.artifactUploads} uploads of code are under way, and no more are taken at a time; try again when one has ended`;
		throw new AppError('ERR_BUSY', {message});
	}
	try {
		const bytes = await readArchive(request);
		const isNew = await store.put(digest, bytes);
		sendJson(response, isNew ? 201 : 200, {bytes: bytes.length});
	} finally {
		end();
	}
};

/** `GET /troupe/v1/nodes/<node>/artifacts/<digits>`: for the agent of that node alone, as long as a pod of it is an instance with this artifact. */
export const fetchArtifact: Handler = async (backend, exchange) => {
	const {identity, params, response} = exchange;
	const {node = ''} = params;
	if (identity.role !== 'node' || identity.node !== node)
		throw new AppError('ERR_FORBIDDEN', {message: `User "${identity.name}" cannot get "troupe/nodes/artifacts" of node "${node}"`});
	const {bytes, pieces} = valueOf(artifactForNode(backend.control.index, storeOf(backend), node, digestIn(exchange)));
	await sendPieces(backend, exchange, pieces, bytes);
	if (!response.writableEnded) response.destroy();
};

/** An answer whose reader is gone, or whose artifact is, stays without its end. */
async function sendPieces(
	{streams}: Backend,
	{identity, response}: Exchange,
	pieces: AsyncIterable<Uint8Array>,
	bytes: number,
): Promise<void> {
	let isOpen = true;
	const stop = (): void => void (isOpen = false);
	response.once('close', stop);
	streams.add(response, identity.name, stop);
	response.writeHead(200, {'content-type': 'application/gzip', 'content-length': bytes, 'cache-control': 'no-store'});
	for await (const piece of pieces) if (!isOpen || !(await write(response, piece))) return;
	response.end();
}

function digestIn({params}: Exchange): string {
	const digest = digestOfHex(params['hex'] ?? '');
	if (!isArtifactDigest(digest)) throw refusal('an artifact is named by the 64 hexadecimal digits of its sha256, in lower case');
	return digest;
}

const notFound = (digest: string): AppError => new AppError('ERR_NOT_FOUND', {resource: 'artifacts', name: digest});

/** What is beyond the bound is never kept. */
async function readArchive(request: IncomingMessage): Promise<Buffer> {
	const tooLarge = (): AppError =>
		new AppError('ERR_TOO_LARGE', {message: `the archive is larger than ${limits.archivePackedBytes} bytes`});
	if (Number(request.headers['content-length'] ?? 0) > limits.archivePackedBytes) throw tooLarge();
	const chunks: Buffer[] = [];
	let bytes = 0;
	return new Promise((resolve, reject) => {
		request.on('data', (chunk: Buffer) => {
			bytes += chunk.length;
			if (bytes <= limits.archivePackedBytes) return void chunks.push(chunk);
			chunks.length = 0;
			request.pause();
			reject(tooLarge());
		});
		request.on('end', () => resolve(Buffer.concat(chunks)));
		request.on('close', () => reject(new ClientGone('the client closed the connection')));
	});
}
