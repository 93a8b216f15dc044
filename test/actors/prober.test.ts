// A probe is tried in turn, never beside itself, and tells its container no more than what changed.

import test from 'ava';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {prober, type ProberInput, type ProberMessage, type ProberState} from '../../actors/node/containers/prober.js';
import type {ActionResult} from '../../actors/node/runtime/runtime-port.js';
import type {Effect, Next} from '../../system/kernel/behavior.js';
import {playContext, receivedBy} from '../../system/kernel/play.js';
import {aContainer, nowMs} from './_objects.js';

const owner = 'troupe://node-a/pods/default.web/main';
const inputOf = (overrides: Partial<ProberInput> = {}): ProberInput => ({
	kind: 'readiness',
	probe: {httpGet: {port: 80}},
	container: aContainer({ports: [{name: 'web', containerPort: 8080}]}),
	id: {uid: 'uid-of-web', container: 'main'},
	podIP: '127.1.0.5',
	attempt: 2,
	startedAtMs: nowMs,
	isAdopted: false,
	owner,
	...overrides,
});

type Step = Next<ProberState>;
const at = (ms: number) => playContext({nowMs: nowMs + ms});
const begin = (overrides: Partial<ProberInput> = {}, ms = 0): Step => prober.init(inputOf(overrides), at(ms));
const step = ({state}: Step, message: ProberMessage, ms = 0): Step => receivedBy(prober, state, message, at(ms));
const round = (now: Step, ms = 0): Step => step(now, {type: 'round'}, ms);
const answer = (now: Step, outcome: Outcome<ActionResult>, ms = 0): Step => step(now, {type: 'probed', id: '', outcome}, ms);
const ok = succeeded({ok: true, message: ''});
const no = (message = 'refused'): Outcome<ActionResult> => succeeded({ok: false, message});

const nextRound = ({effects}: Step): number | undefined =>
	effects.flatMap(effect => (effect.type === 'wakeAt' ? [effect.atMs - nowMs] : []))[0];
const news = ({effects}: Step): unknown[] =>
	effects.flatMap(effect =>
		effect.type === 'tell'
			? [[effect.to === owner, (effect.message as {passed?: boolean}).passed, (effect.message as {failure?: string}).failure]]
			: [],
	);
const commandOf = ({effects}: Step): Extract<Effect, {type: 'perform'}> | undefined => effects.find(effect => effect.type === 'perform');

/** A round at this time, and its answer. */
const tried = (now: Step, outcome: Outcome<ActionResult>, ms = 0): Step => answer(round(now, ms), outcome, ms);

test('the first try is after the initial delay, counted from the start of the container', t => {
	t.is(nextRound(begin()), 0);
	t.is(nextRound(begin({probe: {tcpSocket: {port: 80}, initialDelaySeconds: 5}}, 2_000)), 5_000);
	t.is(nextRound(begin({probe: {tcpSocket: {port: 80}, initialDelaySeconds: 5}}, 7_000)), 7_000);
});

test('a round is its own cause, whatever once started the container', t => {
	t.like(begin({kind: 'liveness'}).effects, [{type: 'wakeAt', cause: 'liveness probe of main'}]);
	t.true(
		tried(begin({kind: 'startup'}), no()).effects.some(effect => effect.type === 'wakeAt' && effect.cause === 'startup probe of main'),
	);
});

test('those of containers that an agent finds are spread over a second', t => {
	const spread = nextRound(begin({isAdopted: true})) ?? -1;
	t.true(spread > 0 && spread < 1_000);
});

test('a try asks the runtime, with the pod’s address, the port’s number and the timeout', t => {
	t.like(
		commandOf(round(begin({probe: {httpGet: {port: 'web', path: 'ready', httpHeaders: [{name: 'A', value: 'b'}]}, timeoutSeconds: 3}}))),
		{
			key: 'uid-of-web/main/probe/readiness/2',
			deadlineMs: 5_000,
			command: {
				type: 'container.act',
				timeoutMs: 3_000,
				action: {type: 'httpGet', host: '127.1.0.5', port: 8080, path: '/ready', scheme: 'HTTP', headers: [{name: 'A', value: 'b'}]},
			},
		},
	);
	t.like(commandOf(round(begin({probe: {tcpSocket: {port: 5432, host: 'db.example'}}}))), {
		command: {action: {type: 'tcpSocket', host: 'db.example', port: 5432}},
	});
});

test('words of a probe may use variables that the manifest says itself', t => {
	const container = aContainer({
		env: [
			{name: 'PORT', value: '80'},
			{name: 'SECRET', valueFrom: {secretKeyRef: {name: 's', key: 'k'}}},
		],
	});
	t.like(commandOf(round(begin({container, probe: {exec: {command: ['check', '$(PORT)', '$(SECRET)', '$$(PORT)']}}}))), {
		command: {action: {type: 'exec', argv: ['check', '80', '$(SECRET)', '$(PORT)']}},
	});
});

test('the next try is a period after the last one began, and never beside it', t => {
	t.is(nextRound(tried(begin(), ok)), 10_000);
	t.is(nextRound(answer(round(begin()), ok, 4_000)), 10_000);
	t.is(nextRound(answer(round(begin()), ok, 12_000)), 12_000);
	t.is(nextRound(round(begin())), undefined, 'nothing is due while one runs');
});

test('a change is told once, what stays as it is never', t => {
	let now = tried(begin(), ok);
	t.deepEqual(news(now), [[true, true, undefined]]);
	now = tried(now, ok);
	t.deepEqual(news(now), []);
	const told = ['first', 'second', 'third', 'fourth'].map(message => news((now = tried(now, no(message)))));
	t.deepEqual(told, [[[true, true, 'failed: first']], [], [[true, false, 'failed: third']], []]);
	t.deepEqual(news(tried(now, ok)), [[true, true, undefined]]);
});

test('a try without an answer has failed', t => {
	const silent = failed('ERR_TIMEOUT', {address: 'edge', deadlineMs: 3_000});
	const now = tried(begin(), silent);
	t.deepEqual(news(now), [[true, undefined, 'failed: no answer within 1 s']]);
	t.deepEqual(news(tried(tried(now, silent), silent)), [[true, false, 'failed: no answer within 1 s']]);
});

test('a try that could not be made is no result; two in a row are told', t => {
	const error = failed('ERR_RUNTIME', {message: 'disk error'});
	const now = tried(begin({kind: 'liveness'}), error);
	t.deepEqual(news(now), []);
	const again = tried(now, error);
	t.deepEqual(news(again), [[true, undefined, 'could not be tried: disk error']]);
	t.deepEqual(news(tried(again, error)), []);
	t.is(again.state.tally.verdict, undefined);
	t.is(nextRound(again), 10_000);
	t.deepEqual(commandOf(round(begin({probe: {tcpSocket: {port: 'nowhere'}}}))), undefined);
});

test('a liveness probe that failed, and a startup probe that is decided, are tried no more', t => {
	const strict = {probe: {tcpSocket: {port: 80}, failureThreshold: 1}};
	t.is(nextRound(tried(begin({kind: 'liveness', ...strict}), no())), undefined);
	t.is(nextRound(tried(begin({kind: 'startup', ...strict}), no())), undefined);
	t.is(nextRound(tried(begin({kind: 'startup', ...strict}), ok)), undefined);
	t.is(nextRound(tried(begin({kind: 'readiness', ...strict}), no())), 10_000);
	t.is(nextRound(tried(begin({kind: 'liveness', ...strict}), ok)), 10_000);
});

test('of what was found running the first result counts at once', t => {
	t.deepEqual(news(tried(begin({isAdopted: true}), no())), [[true, false, 'failed: refused']]);
	t.deepEqual(news(tried(begin({isAdopted: true, probe: {tcpSocket: {port: 80}, successThreshold: 3}}), ok)), [[true, true, undefined]]);
	t.deepEqual(news(tried(begin({isAdopted: true, kind: 'startup'}), no())), [[true, undefined, 'failed: refused']]);
	t.deepEqual(
		news(tried(begin({isAdopted: true, kind: 'liveness'}), no())),
		[[true, undefined, 'failed: refused']],
		'but nothing is killed for it',
	);
});

test('what it does is to be seen in the tree', t => {
	t.is(prober.describe?.(begin().state), 'no result yet');
	t.is(prober.describe?.(tried(tried(begin(), no()), no('HTTP 500')).state), 'not decided: failed 2 in a row, HTTP 500');
	t.is(prober.describe?.(tried(begin(), ok).state), 'passed: passed 1 in a row');
});
