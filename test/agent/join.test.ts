// Joining: who is asked is made sure of before anything is told, and whoever is no cluster gets nothing.

import http from 'node:http';
import https from 'node:https';
import type {AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {AppError} from '../../api/errors.js';
import {caPath, joinPath} from '../../api/join.js';
import {formatJoinToken, pinOfJoinToken} from '../../api/join-token.js';
import {credentialOf, readCredential, writeCredential} from '../../agent/credential.js';
import {isKnown, join} from '../../agent/join.js';
import {ensureCertificates, pinOf} from '../../server/certificates.js';
import {systemClock} from '../../system/time/clock.js';
import {directory, vaults} from '../server/support.js';
import path from 'node:path';
import {stat, writeFile} from 'node:fs/promises';

const certificates = ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
const secret = 'S'.repeat(43);

type Answer = {readonly status: number; readonly body: string};
type Seen = {readonly line: string; readonly token: string | undefined};

/** A server over TLS that answers by path, and remembers what it was told. */
async function server(t: ExecutionContext, answers: {readonly [path: string]: Answer}) {
	const {ca, cert, key} = await certificates;
	const seen: Seen[] = [];
	const door = https.createServer({cert, key}, (request, response) => {
		seen.push({line: `${request.method} ${request.url}`, token: request.headers.authorization});
		const {status, body} = answers[request.url ?? ''] ?? {status: 404, body: ''};
		response.writeHead(status).end(body);
	});
	await new Promise<void>(resolve => door.listen(0, '127.0.0.1', resolve));
	t.teardown(() => {
		door.closeAllConnections();
		door.close();
	});
	return {url: `https://127.0.0.1:${(door.address() as AddressInfo).port}`, ca, pin: pinOf(ca), seen};
}

const answerOf = (ca: string) => ({node: 'a', credential: 'troupe-x', ca, servers: ['https://127.0.0.1:1']});
const taken = (ca: string): {[path: string]: Answer} => ({
	[caPath]: {status: 200, body: ca},
	[joinPath]: {status: 201, body: JSON.stringify(answerOf(ca))},
});

test('a join token says which authority it is for', t => {
	const pin = 'P'.repeat(43);
	t.is(pinOfJoinToken(formatJoinToken(secret, pin)), pin);
	for (const text of [
		'',
		'troupe-x',
		`troupe-join.${secret}`,
		`troupe-join.${secret}.`,
		`troupe-join.${secret}.${pin}x`,
		` troupe-join.${secret}.${pin}`,
	])
		t.is(pinOfJoinToken(text), undefined, text);
});

test('the token is told to a server whose authority it pins, and traded for a credential', async t => {
	const {ca} = await certificates;
	const {url, pin, seen} = await server(t, taken(ca));
	const token = formatJoinToken(secret, pin);
	t.deepEqual(await join({servers: [url], token, node: 'a', ca: undefined}), answerOf(ca));
	t.deepEqual(seen, [
		{line: `GET ${caPath}`, token: undefined},
		{line: `POST ${joinPath}`, token: `Bearer ${token}`},
	]);
});

test('a server with another authority, or none, is told nothing', async t => {
	const other = await ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
	const {ca} = await certificates;
	const token = formatJoinToken(secret, pinOf(other.ca));
	const stranger = await server(t, taken(ca));
	const error = await t.throwsAsync(join({servers: [stranger.url], token, node: 'a', ca: undefined}), {instanceOf: AppError});
	t.regex(error.message, /belongs to another cluster than the token.*The token was not sent/);
	t.deepEqual(stranger.seen, [{line: `GET ${caPath}`, token: undefined}]);

	// It may show the right authority, and yet has no certificate of it.
	const liar = await server(t, taken(other.ca));
	await t.throwsAsync(join({servers: [liar.url], token, node: 'a', ca: undefined}), {message: /certificate that does not fit/});
	t.deepEqual(liar.seen, [{line: `GET ${caPath}`, token: undefined}]);

	for (const body of ['', 'rubbish', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n']) {
		const {url, seen} = await server(t, {[caPath]: {status: 200, body}});
		await t.throwsAsync(join({servers: [url], token, node: 'a', ca: undefined}), {message: /was not sent/});
		t.is(seen.length, 1);
	}
	const none = await server(t, {});
	await t.throwsAsync(join({servers: [none.url], token, node: 'a', ca: undefined}), {message: /shows no authority/});
	await t.throwsAsync(join({servers: [none.url], token: 'troupe-x', node: 'a', ca: undefined}), {message: /is no join token/});
});

test('with the certificate of the cluster at hand no pin is needed, and it is held to', async t => {
	const {ca} = await certificates;
	const other = await ensureCertificates(vaults(), {names: [], nowMs: systemClock.nowMs()});
	const {url, seen} = await server(t, taken(ca));
	await t.throwsAsync(join({servers: [url], token: 'x', node: 'a', ca: other.ca}), {message: /certificate that does not fit --ca /});
	t.deepEqual(seen, []);
	t.is((await join({servers: [url], token: 'x', node: 'a', ca})).credential, 'troupe-x');
});

test('a standby and a server that is away lead on to the next; a refusal does not', async t => {
	const {ca, ...rest} = await certificates;
	t.truthy(rest);
	const standby = await server(t, {...taken(ca), [joinPath]: {status: 503, body: '{"message": "this server is a standby"}'}});
	const leader = await server(t, taken(ca));
	const token = formatJoinToken(secret, leader.pin);
	const away = 'https://127.0.0.1:1';
	t.is((await join({servers: [away, standby.url, leader.url], token, node: 'a', ca: undefined})).node, 'a');
	await t.throwsAsync(join({servers: [away, standby.url], token, node: 'a', ca: undefined}), {message: /this server is a standby/});

	const strict = await server(t, {...taken(ca), [joinPath]: {status: 409, body: '{"message": "no"}'}});
	await t.throwsAsync(join({servers: [strict.url, leader.url], token, node: 'a', ca: undefined}), {message: /did not take the host: no/});
	t.is(leader.seen.length, 2);
	const expired = await server(t, {...taken(ca), [joinPath]: {status: 401, body: ''}});
	await t.throwsAsync(join({servers: [expired.url], token, node: 'a', ca: undefined}), {
		message: /does not know this token, or it has expired/,
	});
	for (const body of ['', '[]', '{"node": "a"}', JSON.stringify({...answerOf(ca), servers: ['http://x']}), 'x'.repeat(100_000)]) {
		const odd = await server(t, {...taken(ca), [joinPath]: {status: 201, body}});
		await t.throwsAsync(join({servers: [odd.url], token, node: 'a', ca: undefined}), {instanceOf: AppError}, body.slice(0, 40));
	}
});

test('a port that does not speak TLS is told in words', async t => {
	const plain = http.createServer();
	await new Promise<void>(resolve => plain.listen(0, '127.0.0.1', resolve));
	t.teardown(() => plain.close());
	const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`;
	const error = await t.throwsAsync(join({servers: [url], token: formatJoinToken(secret, 'P'.repeat(43)), node: 'a', ca: undefined}));
	t.is(error?.message, `${url} cannot be joined: what listens there does not speak TLS; is it the server's --api port?`);
});

test('whether a login is still good is only said by a server that leads', async t => {
	const {ca} = await certificates;
	const asked = async (status: number): Promise<boolean | undefined> => {
		const {url} = await server(t, {'/version': {status, body: '{}'}});
		return isKnown({...answerOf(ca), servers: ['https://127.0.0.1:1', url]});
	};
	t.deepEqual([await asked(200), await asked(403), await asked(401), await asked(503)], [true, true, false, undefined]);
});

test('a credential is kept readable by its owner alone, and rubbish is none', async t => {
	const file = path.join(await directory(t), 'credential');
	t.is(readCredential(file), undefined);
	const credential = {...answerOf('pem'), broker: 'mqtts://x:1'};
	await writeCredential(file, credential);
	t.deepEqual(readCredential(file), credential);
	t.is((await stat(file)).mode & 0o777, 0o600);
	for (const text of ['', '{', 'null', '{"node": 1}']) {
		await writeFile(file, text);
		t.throws(() => readCredential(file), undefined, text);
	}
	await writeFile(file, '{"credential":"troupe-geheim" "node"');
	const broken = t.throws(() => readCredential(file));
	t.false(broken.message.includes('geheim'));
	for (const servers of [[], ['x'], [1], 'https://x', ['http://x']]) t.is(credentialOf({...credential, servers}), undefined);
});
