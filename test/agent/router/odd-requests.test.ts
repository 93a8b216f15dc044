// Requests of clients that mean no good: what reaches a service has one reading.

import test from 'ava';
import {askRaw, listen, routerWorld} from './_router.js';
import {strictService} from './_strict-reader.js';

const inner = 'GET /smuggled HTTP/1.1\r\nHost: a.test\r\n\r\n';
const post = (fields: string, body: string): string => `POST /one HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n\r\n${body}`;

/** The classic pairs: a proxy that takes the one for the end of the body, and a service that takes the other. */
const pairs: readonly (readonly [title: string, bytes: string])[] = [
	['CL.TE', post(`Content-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked`, `0\r\n\r\n${inner}`)],
	['TE.CL', post('Transfer-Encoding: chunked\r\nContent-Length: 4', `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`)],
	['TE.TE', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity', `0\r\n\r\n${inner}`)],
	['CL.CL', post(`Content-Length: 0\r\nContent-Length: ${inner.length}`, inner)],
	['CL in a list', post(`Content-Length: 0, ${inner.length}`, inner)],
	['TE behind a folded line', post(`X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: ${inner.length + 5}`, `0\r\n\r\n${inner}`)],
	['TE behind a bare CR', post(`X: y\rTransfer-Encoding: chunked\r\nContent-Length: ${inner.length + 5}`, `0\r\n\r\n${inner}`)],
	['TE with a blank before its colon', post(`Transfer-Encoding : chunked\r\nContent-Length: ${inner.length + 5}`, `0\r\n\r\n${inner}`)],
	['TE with a vertical tab', post(`Transfer-Encoding:\x0bchunked\r\nContent-Length: ${inner.length + 5}`, `0\r\n\r\n${inner}`)],
	['a chunk size of both sorts', post('Transfer-Encoding: chunked', `0x0\r\n\r\n${inner}`)],
	['a chunk that ends with LF', post('Transfer-Encoding: chunked', `0\n\n${inner}`)],
	['HTTP/1.0 with chunks', post('Transfer-Encoding: chunked', `0\r\n\r\n${inner}`).replace('HTTP/1.1', 'HTTP/1.0')],
];

test('of two requests that depend on who reads, no service gets the second one hidden in the first', async t => {
	const world = await routerWorld(t);
	const {server, requests, complaints} = strictService();
	await world.serve('web', await listen(t, server));
	for (const [title, bytes] of pairs) {
		const answer = await askRaw(world.port, bytes, /^HTTP\/1\.1 \d+[^]*\r\n\r\n/);
		t.regex(answer, /^HTTP\/1\.1 (400|501) /, title);
	}
	t.deepEqual(complaints, []);
	t.deepEqual(
		requests.filter(({line}) => line.includes('smuggled')),
		[],
	);
});

test('trailers that a service could take for fields of the header are left out', async t => {
	const world = await routerWorld(t);
	const {server, requests, complaints} = strictService();
	await world.serve('web', await listen(t, server));
	const trailers = 'Host: b.test\r\nX-Forwarded-For: 1.1.1.1\r\nAuthorization: x\r\nX-Sum: 9\r\n';
	const answer = await askRaw(
		world.port,
		post('Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: close', `1\r\nx\r\n0\r\n${trailers}\r\n`),
		/ok$/,
	);
	t.regex(answer, /^HTTP\/1\.1 200 /);
	t.deepEqual(complaints, []);
	t.is(requests[0]?.body, 'x');
	t.deepEqual(requests[0]?.trailers, ['X-Sum: 9']);
});
