// What a simulated container does when it is asked: probes by words or script, and programs in sessions.

import test from 'ava';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import {createSimulatedHost} from '../../agent/simulated/host.js';
import type {SimulatedScript} from '../../agent/simulated/script.js';
import type {Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {ContainerAction, ExecOutput, ExecRequest, RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {seededRandom} from '../../system/time/random.js';
import {aContainer} from './runtime-contract.js';
import {aSandbox} from './_sandbox.js';

const id = {uid: 'uid-1', container: 'main'};

/** A node with one container that runs; what a command gave so far. */
function aNode(script?: SimulatedScript) {
	const clock = new ManualClock();
	const host = createSimulatedHost(clock);
	const runtime = createSimulatedRuntime({clock, random: seededRandom(1), host, script});
	const run = (command: RuntimeCommand): {outcome?: Outcome<unknown>} => {
		const answer: {outcome?: Outcome<unknown>} = {};
		runtime.run(command, (outcome: Outcome<unknown>) => (answer.outcome = outcome));
		clock.advance(0);
		return answer;
	};
	run({type: 'sandbox.ensure', spec: aSandbox('uid-1', {name: 'p', hostname: 'p'})});
	run({type: 'container.start', spec: aContainer('runs')});
	const value = (command: RuntimeCommand): unknown => {
		const {outcome} = run(command);
		return outcome?.ok === true ? outcome.value : outcome?.error.code;
	};
	const open = (argv: readonly string[], stdin = false): string => {
		const request: ExecRequest = {id, argv, stdin, tty: false, rows: 0, columns: 0};
		return (value({type: 'exec.open', request}) as {session: string}).session;
	};
	const text = (output: unknown): unknown => {
		const {parts, end} = output as ExecOutput;
		return [parts.map(({stream, data}) => `${stream}: ${Buffer.from(data, 'base64').toString()}`).join(''), end?.exitCode];
	};
	const read = (session: string, waitMs = 0): unknown => text(value({type: 'exec.read', session, maxBytes: 1_000, waitMs}));
	const act = (action: ContainerAction): unknown => value({type: 'container.act', id, action, timeoutMs: 1_000});
	return {clock, host, run, value, open, read, text, act};
}

const exec = (...argv: string[]): ContainerAction => ({type: 'exec', argv});

test('probes go as their words suggest, and well where they suggest nothing', t => {
	const {act, host} = aNode();
	t.deepEqual(act(exec('true')), {ok: true, message: ''});
	t.deepEqual(act(exec('/bin/false')), {ok: false, message: 'exit 1'});
	t.deepEqual(act(exec('sh', '-c', 'exit 3')), {ok: false, message: 'exit 3'});
	t.deepEqual(act(exec('pg_isready')), {ok: true, message: ''});
	t.deepEqual(act({type: 'tcpSocket', host: '127.0.0.1', port: 1}), {ok: true, message: ''});
	host.crash('uid-1', 'main', 1);
	t.is(act(exec('true')), 'ERR_BAD_REQUEST');
});

test('a script decides otherwise, by what, when and whom', t => {
	const {act, clock} = aNode({act: ({startedAtMs, nowMs, spec}) => ({ok: nowMs - startedAtMs >= 5_000, message: spec.podName})});
	t.deepEqual(act(exec('true')), {ok: false, message: 'pod-uid-1'});
	clock.advance(5_000);
	t.deepEqual(act(exec('true')), {ok: true, message: 'pod-uid-1'});
});

test('a session has its program’s output and end', t => {
	const {open, read} = aNode();
	t.deepEqual(read(open(['echo', 'a', 'b'])), ['stdout: a b\n', 0]);
	t.deepEqual(read(open(['sh', '-c', 'exit 4'])), ['', 4]);
	t.deepEqual(read(open(['no-such'])), ['stderr: no-such: not found\n', 127]);
	t.deepEqual(read(open(['cat'])), ['', 0], 'without stdin there is nothing to read');
});

test('cat gives back what it is given, until that ends', t => {
	const {open, read, run, text, value} = aNode();
	const session = open(['cat'], true);
	const waiting = run({type: 'exec.read', session, maxBytes: 1_000, waitMs: 5_000});
	t.is(waiting.outcome, undefined);
	t.is(value({type: 'exec.write', session, data: Buffer.from('one').toString('base64'), isLast: false}), null);
	t.deepEqual(waiting.outcome?.ok === true ? text(waiting.outcome.value) : waiting.outcome, ['stdout: one', undefined]);
	t.deepEqual(read(session), ['', undefined]);
	t.is(value({type: 'exec.write', session, data: '', isLast: true}), null);
	t.deepEqual(read(session), ['', 0]);
	t.is(value({type: 'exec.read', session, maxBytes: 1, waitMs: 0}), 'ERR_NOT_FOUND');
});

test('a session that is closed, or that nobody reads, is gone', t => {
	const {open, value, clock} = aNode();
	const read = (session: string): unknown => value({type: 'exec.read', session, maxBytes: 1, waitMs: 0});
	const [closed, idle] = [open(['cat'], true), open(['cat'], true)];
	t.is(value({type: 'exec.resize', session: closed, rows: 1, columns: 1}), null);
	t.is(value({type: 'exec.close', session: closed}), null);
	t.is(read(closed), 'ERR_NOT_FOUND');
	clock.advance(limits.execIdleMs);
	t.is(read(idle), 'ERR_NOT_FOUND');
	t.is(clock.nextAtMs(), undefined, 'no timer is left');
});

test('a session begins in a container that runs, and nowhere else', t => {
	const {value, host} = aNode();
	const request: ExecRequest = {id, argv: ['true'], stdin: false, tty: false, rows: 0, columns: 0};
	host.crash('uid-1', 'main', 1);
	t.is(value({type: 'exec.open', request}), 'ERR_BAD_REQUEST');
	t.is(value({type: 'stdin.write', id, data: '', isLast: true}), 'ERR_BAD_REQUEST');
});

test('volumes are remembered as they were asked for last', t => {
	const {value, host} = aNode();
	const volumes = [{name: 'v', source: {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined}}] as const;
	t.is(value({type: 'volumes.ensure', uid: 'uid-1', namespace: 'default', volumes, fsGroup: undefined}), null);
	t.deepEqual(host.pods.get('uid-1')?.volumes, volumes);
	t.is(value({type: 'volumes.ensure', uid: 'nowhere', namespace: 'default', volumes, fsGroup: undefined}), 'ERR_NOT_FOUND');
});

test('a log begins with its time, or not before a time, when that is asked for', t => {
	const {value, clock} = aNode();
	const log = (overrides: object): unknown => {
		const request = {id, previous: false, offset: undefined, tailLines: undefined, maxBytes: 1_000, waitMs: 0, ...overrides};
		const {data, nextOffset} = value({type: 'logs.read', request}) as {data: string; nextOffset: number};
		return [Buffer.from(data, 'base64').toString(), nextOffset];
	};
	const line = 'attempt 0 of main started\n';
	t.deepEqual(log({timestamps: true}), [`${new Date(clock.nowMs()).toISOString()} ${line}`, line.length]);
	t.deepEqual(log({timestamps: true, offset: 8}), [line.slice(8), line.length]);
	t.deepEqual(log({sinceMs: clock.nowMs()}), [line, line.length]);
	t.deepEqual(log({sinceMs: clock.nowMs() + 1}), ['', line.length]);
});
