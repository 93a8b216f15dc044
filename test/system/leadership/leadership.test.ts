import test from 'ava';
import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {lead, type Leadership, type Led, type TermGuard} from '../../../system/leadership/leadership.js';
import type {Election, ElectionListener, Term} from '../../../system/leadership/election.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createLeaseStore, createMemoryElection, type LeaseStore} from '../../../system/leadership/memory-election.js';

type Opened = {readonly term: TermGuard; readonly done: (outcome: Outcome<Led>) => void};

/** A server whose control system is a name in a log. */
function server(t: {teardown: (end: () => Promise<void>) => void}, name: string, leases: LeaseStore, clock: ManualClock) {
	const log: string[] = [];
	const opened: Opened[] = [];
	let reaches = true;
	const control: Led = {
		begin: () => void log.push('begin'),
		kill: () => void log.push('kill'),
		stop(done) {
			log.push('stop');
			done();
		},
	};
	const leadership: Leadership<Led> = lead({
		election: createMemoryElection({leases, clock, reaches: () => reaches}),
		self: {id: name, api: `https://${name}`},
		clock,
		open: (term, done) => void opened.push({term, done}),
		onLeading: () => void log.push('leading'),
		onStandby: reason => void log.push(`standby: ${reason}`),
		onProblem: message => void log.push(`problem: ${message}`),
	});
	t.teardown(leadership.stop);
	return {
		leadership,
		log,
		opened,
		open: (outcome: Outcome<Led> = succeeded(control)) => opened.at(-1)?.done(outcome),
		cut: () => void (reaches = false),
	};
}

test('who is elected opens a term, and begins when everything is loaded', t => {
	const clock = new ManualClock();
	const {leadership, log, opened, open} = server(t, 'a', createLeaseStore(clock), clock);
	clock.advance(0);
	t.is(opened.length, 1);
	t.is(leadership.control(), undefined);
	t.true(opened[0]?.term.mayAct());
	open();
	t.deepEqual(log, ['leading', 'begin']);
	t.not(leadership.control(), undefined);
});

test('a leader that is cut off kills its system before another opens its own', t => {
	const clock = new ManualClock();
	const leases = createLeaseStore(clock);
	const [a, b] = [server(t, 'a', leases, clock), server(t, 'b', leases, clock)];
	clock.advance(0);
	a.open();
	a.cut();
	clock.advance(1_300);
	t.true(a.opened[0]?.term.mayAct());
	clock.advance(100);
	t.false(a.opened[0]?.term.mayAct());
	t.deepEqual(a.log, ['leading', 'begin', 'kill', 'standby: no keep-alive was confirmed in time']);
	t.is(b.opened.length, 0);
	clock.advance(1_600);
	b.open();
	t.deepEqual(b.log, ['leading', 'begin']);
});

test('a leader whose time is over does not act before it is told so, and acts again once a late confirmation counts', t => {
	const clock = new ManualClock();
	let listener: ElectionListener | undefined;
	let term: TermGuard | undefined;
	let untilMs = clock.monotonicMs() + 1_000;
	const lease: Term = {untilMs: () => untilMs, resign: () => Promise.resolve()};
	const silent: Election = {
		run: (_self, heard) => void (listener = heard),
		leader: () => undefined,
		answers: () => true,
		servers: () => [],
		close: () => Promise.resolve(),
	};
	lead<Led>({
		election: silent,
		self: {id: 'a', api: 'https://a'},
		clock,
		open: opened => void (term = opened),
		onLeading: () => undefined,
		onStandby: () => undefined,
	});
	listener?.elected(lease);
	clock.advance(999);
	t.true(term?.mayAct());
	clock.advance(1);
	t.false(term?.mayAct(), 'as after a pause of the whole process, in which no timer came');
	untilMs += 1_000;
	t.true(term?.mayAct());
});

test('a system that finds itself fenced is killed once, and the term given up', t => {
	const clock = new ManualClock();
	const leases = createLeaseStore(clock);
	const [a, b] = [server(t, 'a', leases, clock), server(t, 'b', leases, clock)];
	clock.advance(0);
	a.open();
	a.opened[0]?.term.onFenced('another writer');
	a.opened[0]?.term.onFenced('once more');
	t.deepEqual(a.log, ['leading', 'begin', 'kill', 'standby: another writer']);
	t.is(a.leadership.control(), undefined);
	clock.advance(100);
	t.is(b.opened.length, 1);
});

test('a term that cannot begin is given up, said, and tried again after a pause', t => {
	const clock = new ManualClock();
	const {log, opened, open} = server(t, 'a', createLeaseStore(clock), clock);
	clock.advance(0);
	open(failed('ERR_NOT_REACHABLE', {message: 'the store cannot be read'}));
	t.deepEqual(log, ['problem: the store cannot be read']);
	clock.advance(500);
	t.is(opened.length, 1);
	clock.advance(2_000);
	t.is(opened.length, 2);
	open();
	t.deepEqual(log.slice(1), ['leading', 'begin']);
});

test('what is loaded only after its term is over is killed and never begins', t => {
	const clock = new ManualClock();
	const {log, open, opened, cut} = server(t, 'a', createLeaseStore(clock), clock);
	clock.advance(0);
	cut();
	clock.advance(5_000);
	t.false(opened[0]?.term.mayAct());
	open();
	t.deepEqual(log, ['kill']);
});

test('a server that stops ends its system in good order and makes room', async t => {
	const clock = new ManualClock();
	const leases = createLeaseStore(clock);
	const [a, b] = [server(t, 'a', leases, clock), server(t, 'b', leases, clock)];
	clock.advance(0);
	a.open();
	await a.leadership.stop();
	t.deepEqual(a.log, ['leading', 'begin', 'stop', 'kill', 'standby: the server is stopping']);
	clock.advance(100);
	t.is(b.opened.length, 1);
	t.deepEqual(
		b.leadership.servers().map(({id}) => id),
		['b'],
	);
});
