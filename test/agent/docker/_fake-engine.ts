// An Engine over a unix socket that has images, and registries to pull more from. What is asked of it is real HTTP.

import {mkdtemp, rm} from 'node:fs/promises';
import http from 'node:http';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {ExecutionContext} from 'ava';
import {openEngine, type Engine} from '../../../agent/docker/engine/engine.js';
import type {Clock} from '../../../system/time/clock.js';

type Answer = http.ServerResponse;
export type Login = {readonly username: string; readonly password: string};

export type FakeImage = {readonly id: string; readonly bytes: number; readonly createdSeconds?: number};

/** How an image is pulled; it is there once this resolves. A text is the registry's refusal. */
export type FakePull = (answer: Answer, login: Login | undefined) => Promise<string | undefined>;

export type FakeEngine = {
	readonly engine: Engine;
	/** By canonical name. */
	readonly images: Map<string, FakeImage>;
	/** What registries have. */
	readonly offers: Map<string, {readonly image: FakeImage; readonly pull: FakePull}>;
	/** Ids of the images of its containers. */
	readonly used: Set<string>;
	/** What was asked: `POST /images/create r.local/a:1`. */
	readonly asked: string[];
	/** Its own, and where it says that it keeps images. */
	readonly directory: string;
	readonly loads: {readonly answer: (body: Buffer) => string; readonly bodies: Buffer[]};
};

export const tell = (answer: Answer, line: unknown): boolean => answer.write(`${JSON.stringify(line)}\r\n`);

/** Takes any login. */
export const open: FakePull = answer => {
	tell(answer, {status: 'Pulling fs layer', id: 'aaaa', progressDetail: {}});
	tell(answer, {status: 'Downloading', id: 'aaaa', progressDetail: {current: 500, total: 1_000}});
	tell(answer, {status: 'Pull complete', id: 'aaaa', progressDetail: {}});
	return Promise.resolve(undefined);
};

/** Of an id that looks like one. */
export const idOf = (name: string): string => `sha256:${Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64)}`;

export async function startFakeEngine(t: ExecutionContext, clock: Clock): Promise<FakeEngine> {
	const folder = await mkdtemp(path.join(tmpdir(), 'engine-'));
	const socketPath = path.join(folder, 'socket');
	const fake: FakeEngine = {
		engine: openEngine({socketPath}, clock),
		images: new Map(),
		offers: new Map(),
		used: new Set(),
		asked: [],
		directory: folder,
		loads: {answer: () => '', bodies: []},
	};
	const server = http.createServer(
		(request, answer) => void respond(fake, request, answer).catch((error: unknown) => t.fail(String(error))),
	);
	await new Promise<void>(resolve => server.listen(socketPath, resolve));
	t.teardown(async () => {
		server.closeAllConnections();
		await new Promise(resolve => server.close(resolve));
		await rm(folder, {recursive: true, force: true});
	});
	return fake;
}

async function respond(fake: FakeEngine, request: http.IncomingMessage, answer: Answer): Promise<void> {
	const {pathname, searchParams} = new URL(request.url ?? '/', 'http://engine');
	const name = searchParams.get('fromImage') ?? '';
	fake.asked.push([request.method, pathname, name].join(' ').trim());
	const found = /^\/images\/(.+?)(\/json)?$/.exec(pathname);
	const body = request.method === 'POST' ? await bodyOf(request) : Buffer.alloc(0);
	if (pathname === '/images/create') return pull(fake, name, loginOf(request), answer);
	if (pathname === '/images/load') return load(fake, body, answer);
	if (pathname === '/images/json') return json(answer, 200, listOf(fake));
	if (pathname === '/containers/json')
		return json(
			answer,
			200,
			[...fake.used].map(id => ({Id: `c-${id}`, ImageID: id})),
		);
	if (pathname === '/info') return json(answer, 200, {DockerRootDir: fake.directory});
	const wanted = found?.[1] ?? '';
	const names = [...fake.images].filter(([each, {id}]) => each === wanted || id === wanted);
	const [first] = names;
	if (first === undefined) return json(answer, 404, {message: `No such image: ${wanted}`});
	if (request.method !== 'DELETE') return json(answer, 200, {Id: first[1].id, Size: first[1].bytes});
	if (fake.used.has(first[1].id)) return json(answer, 409, {message: 'image is being used by a container'});
	for (const [each] of names) fake.images.delete(each);
	return json(answer, 200, []);
}

function json(answer: Answer, status: number, value: unknown): void {
	answer.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value));
}

const listOf = ({images}: FakeEngine): unknown =>
	[...new Set([...images.values()].map(({id}) => id))].map(id => {
		const names = [...images].filter(([, image]) => image.id === id);
		return {
			Id: id,
			RepoTags: names.map(([each]) => each),
			RepoDigests: null,
			Size: names[0]?.[1].bytes,
			Created: names[0]?.[1].createdSeconds ?? 1,
		};
	});

function loginOf({headers}: http.IncomingMessage): Login | undefined {
	const header = headers['x-registry-auth'];
	return typeof header === 'string' ? (JSON.parse(Buffer.from(header, 'base64url').toString()) as Login) : undefined;
}

async function bodyOf(request: http.IncomingMessage): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks);
}

async function pull(fake: FakeEngine, name: string, login: Login | undefined, answer: Answer): Promise<void> {
	const offered = fake.offers.get(name);
	if (offered === undefined) return json(answer, 404, {message: `manifest for ${name} not found: manifest unknown: manifest unknown`});
	const refusal = await offered.pull(answer, login);
	if (refusal === undefined) {
		fake.images.set(name, offered.image);
		answer.end();
	} else if (answer.headersSent) {
		answer.end(JSON.stringify({errorDetail: {message: refusal}, error: refusal}));
	} else json(answer, 500, {message: refusal});
}

function load(fake: FakeEngine, body: Buffer, answer: Answer): void {
	fake.loads.bodies.push(body);
	answer.end(fake.loads.answer(body));
}
