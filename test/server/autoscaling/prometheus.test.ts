// Queries of Prometheus for autoscalers: what their answers mean, what is asked and how often, and what must not be.

import http, {type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo, LookupFunction} from 'node:net';
import test, {type ExecutionContext} from 'ava';
import {eventually, within} from '../../../bench/rigs/cluster/waiting.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {podsIn, prometheusAnswerOf, totalIn} from '../../../server/autoscaling/prometheus-answer.js';
import {createPrometheusQueries} from '../../../server/autoscaling/prometheus-queries.js';

const success = (resultType: string, result: unknown): string => JSON.stringify({status: 'success', data: {resultType, result}});
const vector = (...series: readonly (readonly [labels: object, value: string])[]): string =>
	success(
		'vector',
		series.map(([metric, value]) => ({metric, value: [1_435_781_451.781, value]})),
	);

const withWarnings = (...warnings: readonly string[]): string =>
	JSON.stringify({status: 'success', warnings, data: {resultType: 'scalar', result: [1, '5']}});

const totals: readonly (readonly [title: string, status: number, body: string, expected: number | string])[] = [
	['a number', 200, success('scalar', [1, '12.5']), 12.5],
	['one series', 200, vector([{queue: 'a'}, '7']), 7],
	['the sum of several', 200, vector([{queue: 'a'}, '7'], [{queue: 'b'}, '1e1']), 17],
	['no series', 200, vector(), 'the query has no result'],
	['no number', 200, vector([{}, 'NaN']), 'the result of the query is not a number from 0 on'],
	['one of several that is none', 200, vector([{}, '1'], [{}, '+Inf']), 'the result of the query is not a number from 0 on'],
	['less than nothing', 200, success('scalar', [1, '-3']), 'the result of the query is not a number from 0 on'],
	['a sample that is none', 200, success('vector', [{}, 5, null, {value: [1]}]), 'the result of the query is not a number from 0 on'],
	['a range', 200, success('matrix', []), 'the query gives neither a number nor an instant vector'],
	['a text', 200, success('string', [1, 'x']), 'the query gives neither a number nor an instant vector'],
	['a blank', 200, vector([{}, ' ']), 'the result of the query is not a number from 0 on'],
	[
		'a histogram',
		200,
		success('vector', [{metric: {}, histogram: [1, {count: '5', sum: '3'}]}]),
		'the result of the query is not a number from 0 on',
	],
	[
		'a part of it',
		200,
		withWarnings('store 10.0.0.9: unavailable'),
		'it warns that its answer may lack something: store 10.0.0.9: unavailable',
	],
	['a remark on the query', 200, withWarnings('PromQL info: metric might not be a counter'), 5],
	['an error of the query', 400, '{"status":"error","errorType":"bad_data","error":"parse error: x"}', 'it says: parse error: x'],
	['an error without end', 400, JSON.stringify({status: 'error', error: 'x'.repeat(1_000)}), `it says: ${'x'.repeat(200)}`],
	['something else', 200, '<html>', 'its answer is not that of a Prometheus'],
	[
		'something else in JSON',
		200,
		'{"status":"success","data":{"resultType":"vector","result":{}}}',
		'its answer is not that of a Prometheus',
	],
	['a login', 401, 'no', 'it answered with status 401'],
	['another place', 302, '', 'it answered with status 302, and redirects are not followed'],
];
for (const [title, status, body, expected] of totals)
	test(`a Prometheus that answers with ${title}`, t =>
		t.deepEqual(
			totalIn(prometheusAnswerOf(status, body)),
			typeof expected === 'number' ? {type: 'total', value: expected} : {type: 'unknown', why: expected},
		));

test('series are of the pods that their labels name, in the namespace of the autoscaler', t => {
	const text = vector(
		[{pod: 'a'}, '1'],
		[{pod: 'a', namespace: 'default', path: 'x'}, '2'],
		[{pod: 'b', namespace: 'other'}, '4'],
		[{pod: 'c'}, 'NaN'],
		[{instance: 'd'}, '8'],
	);
	t.deepEqual(podsIn(prometheusAnswerOf(200, text), 'default'), {type: 'pods', values: new Map([['a', 3]])});
	t.deepEqual(podsIn(prometheusAnswerOf(200, vector()), 'default'), {type: 'pods', values: new Map()});
	for (const body of [success('scalar', [1, '5']), vector([{instance: 'd'}, '8'])])
		t.regex(JSON.stringify(podsIn(prometheusAnswerOf(200, body), 'default')), /no series with the label/);
	t.like(podsIn(prometheusAnswerOf(500, ''), 'default'), {type: 'unknown'});
});

// ---- asking --------------------------------------------------------------------------------------------------------------

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function opened(t: ExecutionContext, answer: Answer, {lookup, listed = true}: {lookup?: LookupFunction; listed?: boolean} = {}) {
	const seen: IncomingMessage[] = [];
	const server = http.createServer((request, response) => {
		seen.push(request);
		answer(request, response);
	});
	await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve));
	const {port} = server.address() as AddressInfo;
	const clock = new ManualClock();
	const hosts: string[] = listed ? [`127.0.0.1:${port}`] : [];
	const queries = createPrometheusQueries({hosts: () => hosts, clock, lookup});
	t.teardown(() => {
		queries.close();
		server.closeAllConnections();
		server.close();
	});
	return {
		clock,
		hosts,
		port,
		queries,
		seen,
		ask: (query: string, host = `127.0.0.1:${port}`) => within('an answer', queries.ask({url: `http://${host}`, query})),
	};
}

const fine: Answer = (_, response) => void response.end(success('scalar', [1, '5']));
const whyOf = (answer: {readonly ok: boolean; readonly why?: string}): string | undefined => answer.why;

test('a query is asked by GET, without anything of the cluster, and its answer shared for a while', async t => {
	const {ask, seen, clock} = await opened(t, fine);
	const both = await Promise.all([ask('sum(a)'), ask('sum(a)')]);
	t.deepEqual(both.map(totalIn), [
		{type: 'total', value: 5},
		{type: 'total', value: 5},
	]);
	await ask('sum(a)');
	t.is(seen.length, 1);
	t.deepEqual([seen[0]?.method, seen[0]?.url], ['GET', '/api/v1/query?query=sum(a)']);
	t.deepEqual(Object.keys(seen[0]?.headers ?? {}).sort(), ['accept', 'connection', 'host']);
	await ask('sum(b)');
	clock.advance(limits.prometheusShareMs);
	await ask('sum(a)');
	t.is(seen.length, 3);
});

test('a host that is not listed is not asked, and it is said what to do', async t => {
	const {ask, seen, port, hosts, clock} = await opened(t, fine, {listed: false});
	t.is(
		whyOf(await ask('a')),
		`this cluster does not let autoscalers ask "127.0.0.1:${port}": it has to be in the list autoscaling.prometheusHosts, as in: troupe config set autoscaling.prometheusHosts 127.0.0.1:${port} (with a comma between several)`,
	);
	t.is(seen.length, 0);
	hosts.push(`127.0.0.1:${port}`);
	clock.advance(limits.prometheusShareMs);
	t.true((await ask('a')).ok);
});

test('a name that is listed and leads to this machine is not asked', async t => {
	const lookup: LookupFunction = (_name, _options, done) => done(null, [{address: '127.0.0.1', family: 4}]);
	const {ask, seen, port, hosts} = await opened(t, fine, {lookup});
	hosts.splice(0, 1, `prometheus.example:${port}`);
	t.regex(
		whyOf(await ask('a', `prometheus.example:${port}`)) ?? '',
		/^prometheus\.example:\d+ leads to 127\.0\.0\.1:\d+, which belongs to this machine/,
	);
	t.is(seen.length, 0);
});

test('a redirect of a Prometheus is not followed', async t => {
	const {ask, seen} = await opened(
		t,
		(request, response) => void response.writeHead(302, {location: `http://${request.headers.host ?? ''}/else`}).end(),
	);
	t.regex(whyOf(await ask('a')) ?? '', /^Prometheus at 127\.0\.0\.1:\d+: it answered with status 302, and redirects are not followed$/);
	t.is(seen.length, 1);
});

test('no more of an answer of a Prometheus is read than may be', async t => {
	const {ask} = await opened(t, (_, response) => {
		const write = (): void => {
			while (!response.destroyed && response.write('x'.repeat(65_536)));
		};
		response.on('drain', write);
		write();
	});
	t.regex(whyOf(await ask('a')) ?? '', /its answer has more than 262144 bytes$/);
});

test('a Prometheus that is not there, or says nothing, is given up in time, and others are not held up', async t => {
	const dead = await opened(t, () => undefined);
	const alive = await opened(t, fine);
	dead.hosts.push(`127.0.0.1:${alive.port}`, '127.0.0.1:1');
	const waiting = Array.from({length: limits.prometheusAtOnce * 2}, (_, at) => dead.ask(`hangs(${at})`));
	await eventually('it is asked', () => dead.seen.length === limits.prometheusAtOnce);
	t.true((await dead.ask('a', `127.0.0.1:${alive.port}`)).ok);
	t.regex(whyOf(await dead.ask('a', '127.0.0.1:1')) ?? '', /^Prometheus at 127\.0\.0\.1:1 cannot be asked: .*ECONNREFUSED/);
	dead.clock.advance(limits.prometheusAnswerMs);
	for (const answer of await Promise.all(waiting))
		t.regex(whyOf(answer) ?? '', /^Prometheus at 127\.0\.0\.1:\d+ did not answer within 4 s$/);
	t.is(dead.seen.length, limits.prometheusAtOnce);
	t.is(dead.queries.underWay(), 0);
});

test('so many queries of one host are under way at most, and so many of all: a host that hangs takes no room of others', async t => {
	const silent: LookupFunction = () => undefined;
	const {queries, hosts, ask, port} = await opened(t, fine, {lookup: silent});
	const fill = (host: string) =>
		Array.from({length: limits.prometheusQueries}, (_, at) => queries.ask({url: `http://${host}`, query: `q${at}`}));
	hosts.push('*.example');
	const open = fill('h0.example');
	t.is(whyOf(await ask('more', 'h0.example')), 'too many queries are asked of h0.example at once');
	t.true((await ask('a')).ok, 'another host has room');
	for (let at = 1; at < limits.prometheusQueriesInAll / limits.prometheusQueries; at++) open.push(...fill(`h${at}.example`));
	t.is(queries.underWay(), limits.prometheusQueriesInAll);
	t.is(whyOf(await ask('b')), 'too many queries are asked at once');
	t.regex(whyOf(await ask('x', `nowhere.example:${port}`)) ?? '', /does not let autoscalers ask "nowhere\.example/);
	queries.close();
	await Promise.all(open);
	t.is(queries.underWay(), 0);
});
