// Calls of functions that a node's router passes on: who may, of what, and what the function sees.

import {createServer, type IncomingMessage} from 'node:http';
import {connect, type AddressInfo} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {activatorsAddress} from '../../actors/addresses.js';
import {succeeded} from '../../api/errors.js';
import {answeredHeader, clientAuthorization, routedCallPath} from '../../api/routed-call.js';
import {createFunctionCalls} from '../../server/functions/calls.js';
import {systemClock} from '../../system/time/clock.js';
import {testCluster} from './cluster.js';
import {openDoor} from './door.js';

const as = (login: string) => ({authorization: `Bearer ${login}`});
const of = (name: string, path = '/', node = 'node-a', namespace = 'default'): string => routedCallPath(node, namespace, name, path);

/** A door before a function whose only instance is a server of this test. */
async function opened(t: ExecutionContext) {
	const seen: IncomingMessage[] = [];
	const instance = createServer((request, response) => {
		seen.push(request);
		request.resume().on('end', () => void response.writeHead(201, {'x-own': 'yes'}).end('answered'));
	});
	await new Promise<void>(resolve => instance.listen(0, '127.0.0.1', resolve));
	const {port} = instance.address() as AddressInfo;
	const cluster = testCluster();
	const {control, answers} = cluster;
	for (const name of ['hello', 'other'])
		cluster.put({
			apiVersion: 'troupe.dev/v1',
			kind: 'Function',
			metadata: {name, namespace: 'default', uid: name, resourceVersion: '0', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z'},
		});
	answers.set(activatorsAddress, () => succeeded({node: 'node-a', pod: 'hello-1', uid: 'u1'}));
	const calls = createFunctionCalls({
		control,
		clock: systemClock,
		connectHere: () => () =>
			new Promise(resolve => {
				const socket = connect(port, '127.0.0.1', () => resolve(socket));
			}),
	});
	t.teardown(() => {
		calls.close();
		instance.close();
		instance.closeAllConnections();
	});
	const route = (...paths: readonly object[]): void =>
		void cluster.put({
			apiVersion: 'troupe.dev/v1',
			kind: 'Dns',
			metadata: {
				name: 'site',
				namespace: 'default',
				uid: 'd',
				resourceVersion: '0',
				generation: 1,
				creationTimestamp: '2026-01-01T00:00:00Z',
			},
			spec: {host: 'a.test', paths},
		});
	return {...(await openDoor(t, cluster, undefined, undefined, undefined, calls)), seen, route};
}

test('a node calls what a Dns of the namespace leads to, and nothing else', async t => {
	const {call, seen, route, bugs} = await opened(t);
	t.is((await call('GET', of('hello'), undefined, as('node-a'))).status, 403, 'no Dns leads there');
	route({subPath: '/', backends: [{svcName: 'web', weight: 1}, {funcName: 'hello'}]}, {subPath: '/other', svcName: 'other', svcPort: 80});
	t.is((await call('GET', of('hello'), undefined, as('node-a'))).status, 201);
	t.is((await call('GET', of('other'), undefined, as('node-a'))).status, 403, 'a service of that name');
	t.is((await call('GET', of('hello', '/', 'node-a', 'other'), undefined, as('node-a'))).status, 403, 'another namespace');
	for (const login of ['node-b', 'admin', 'editor', 'viewer', 'tool'])
		t.is((await call('GET', of('hello'), undefined, as(login))).status, 403, login);
	t.is((await call('POST', '/functions/default/hello', {}, as('node-a'))).status, 403, 'the way of people');
	route({subPath: '/', svcName: 'web', svcPort: 80});
	t.is((await call('GET', of('hello'), undefined, as('node-a'))).status, 403, 'it does not lead there any more');
	t.is(seen.length, 1);
	t.deepEqual(bugs, []);
});

test('the function sees what the client has sent, and never the login of the node', async t => {
	const {call, seen, route, bugs} = await opened(t);
	route({subPath: '/', funcName: 'hello'});
	const headers = {
		...as('node-a'),
		[clientAuthorization]: 'Basic YTpi',
		prefer: 'respond-async',
		'impersonate-user': 'eve',
		'x-forwarded-for': '203.0.113.9',
		'x-forwarded-host': 'a.test',
	};
	const {status, headers: answered, text} = await call('POST', of('hello', '/api/a%20b//?c=d'), {n: 1}, headers);
	t.deepEqual([status, text, answered[answeredHeader], answered['x-own']], [201, 'answered', 'yes', 'yes']);
	const [request] = seen;
	t.is(request?.url, '/api/a%20b//?c=d');
	t.like(request?.headers, {
		authorization: 'Basic YTpi',
		prefer: 'respond-async',
		'impersonate-user': 'eve',
		'x-forwarded-for': '203.0.113.9',
		'x-forwarded-host': 'a.test',
	});
	t.false(JSON.stringify(request?.rawHeaders).includes('node-a'));
	await call('GET', of('hello'), undefined, as('node-a'));
	t.is(seen[1]?.headers.authorization, undefined);
	t.deepEqual(bugs, []);
});

test('what the server says itself is not marked as an answer of the function', async t => {
	const {call, route} = await opened(t);
	route({subPath: '/', funcName: 'gone'});
	const {status, headers} = await call('GET', of('gone'), undefined, as('node-a'));
	t.deepEqual([status, headers[answeredHeader]], [404, undefined]);
	t.is((await call('GET', of('gone'))).headers[answeredHeader], undefined);
});
