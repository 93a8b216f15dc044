import test from 'ava';
import {limits} from '../../../api/limits.js';
import {parseUserPresence} from '../../../api/user-system.js';
import {createNameClaim} from '../../../system/presence/name-claim.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

/** One topic of a broker that hands on what is said in order, what is retained first to who comes; and runs that would like to have its name. */
function aTopic() {
	const clock = new ManualClock();
	const queue: (() => void)[] = [];
	const here = new Set<{hear: (payload: string, isRetained: boolean) => void}>();
	const log: string[] = [];
	let retained = '';
	const flow = (): void => {
		for (let next = queue.shift(); next !== undefined; next = queue.shift()) next();
	};
	const publish = (payload: string, retain: boolean): void => {
		queue.push(() => {
			if (retain) retained = payload;
			for (const each of here) each.hear(payload, false);
		});
	};
	const run = (boot: string, sinceMs: number) => {
		let isConnected = false;
		const claim = createNameClaim({
			system: {name: 'ping', login: 'ann'},
			self: {boot, sinceMs, host: `host-${boot}`, pid: 1, file: 'f'},
			clock,
			publish(_topic, payload, {retain}) {
				if (isConnected) publish(payload, retain);
			},
			onHeld: () => log.push(`${boot} has it`),
			onTaken: by => log.push(`${boot} yields to ${by.boot}`),
		});
		const member = {hear: (payload: string, isRetained: boolean) => claim.hear(payload, isRetained)};
		const handOn = (payload: string, turns: number): void => {
			if (turns === 0) member.hear(payload, true);
			else queue.push(() => handOn(payload, turns - 1));
		};
		/** What is retained comes so many turns of the broker late. */
		const connect = (lateTurns = 0): void => {
			isConnected = true;
			queue.push(() => {
				here.add(member);
				if (retained !== '') handOn(retained, lateTurns);
				claim.connected();
			});
		};
		const leave = (): void => {
			isConnected = false;
			here.delete(member);
			claim.disconnected();
		};
		return {
			claim,
			connect,
			leave,
			/** Its process dies: the broker says its will. */
			die() {
				leave();
				publish(claim.will.payload, claim.will.retain);
			},
			end() {
				claim.release();
				flow();
				leave();
			},
		};
	};
	const pass = (ms: number): void => {
		flow();
		for (let left = ms; left > 0; left -= 100) {
			clock.advance(100);
			flow();
		}
	};
	return {clock, run, flow, pass, log, publish, owner: () => parseUserPresence(retained)?.boot, retained: () => retained};
}

test('a name that nobody has is had at once, and given back', t => {
	const {run, flow, log, owner, retained} = aTopic();
	const a = run('a', 1);
	a.connect();
	flow();
	t.deepEqual([log, owner()], [['a has it'], 'a']);
	a.end();
	t.is(retained(), '');
});

test('a second run yields to the first, which keeps the name', t => {
	const {run, flow, pass, log, owner} = aTopic();
	run('a', 1).connect();
	flow();
	// Its clock may be behind.
	run('b', 0).connect();
	pass(limits.userSystemClaimMs + 1_000);
	t.deepEqual([log, owner()], [['a has it', 'b yields to a'], 'a']);
});

test('of two that begin in one moment one has the name', t => {
	const {run, pass, log, owner} = aTopic();
	run('a', 2).connect();
	run('b', 1).connect();
	pass(5_000);
	t.deepEqual([log.sort(), owner()], [['a has it', 'b yields to a'], 'a']);
});

test('who comes while the last will of a dead run is on its way waits for it', t => {
	const {run, flow, pass, log, owner} = aTopic();
	const a = run('a', 1);
	a.connect();
	flow();
	a.leave();
	run('b', 2).connect();
	pass(1_000);
	t.deepEqual(log, ['a has it']);
	a.die();
	pass(1_000);
	t.deepEqual([log, owner()], [['a has it', 'b has it'], 'b']);
});

const dead = JSON.stringify({state: 'online', boot: 'dead', sinceMs: 0, host: 'h', pid: 1, file: 'f'});

test('what a dead run left retained keeps its name from nobody for longer than a last will takes, however late it comes', t => {
	for (let lateTurns = 0; lateTurns < 8; lateTurns += 1) {
		const {run, flow, pass, log, publish, owner, retained} = aTopic();
		publish(dead, true);
		flow();
		const a = run('a', 1);
		a.connect(lateTurns);
		pass(limits.userSystemClaimMs + 1_000);
		t.deepEqual([log, owner()], [['a has it'], 'a'], `${lateTurns} turns late`);
		a.end();
		t.is(retained(), '');
	}
});

test('of two that wait for a dead one, one has the name', t => {
	const {run, pass, log, publish, owner} = aTopic();
	publish(dead, true);
	run('a', 1).connect();
	run('b', 2).connect();
	pass(2 * limits.userSystemClaimMs);
	t.deepEqual([log.sort(), owner()], [['a has it', 'b yields to a'], 'a']);
});

test('a second run never has the name of one that answers, however late what is retained comes', t => {
	for (let lateTurns = 0; lateTurns < 8; lateTurns += 1) {
		const {run, flow, pass, log, owner} = aTopic();
		run('a', 1).connect();
		flow();
		run('b', 2).connect(lateTurns);
		pass(limits.userSystemClaimMs + 1_000);
		t.deepEqual([log, owner()], [['a has it', 'b yields to a'], 'a'], `${lateTurns} turns late`);
	}
});

test('a run that yields after it claimed leaves no claim of its own', t => {
	const said: string[] = [];
	const self = {boot: 'b', sinceMs: 2, host: 'h', pid: 1, file: 'f'};
	const claim = createNameClaim({
		system: {name: 'ping', login: 'ann'},
		self,
		clock: new ManualClock(),
		publish: (_topic, payload, {retain}) => said.push(`${parseUserPresence(payload)?.state ?? 'nothing'}${retain ? ', retained' : ''}`),
		onHeld: () => said.push('has it'),
		onTaken: by => said.push(`yields to ${by.boot}`),
	});
	claim.connected();
	for (let each = 0; each < 2; each += 1) claim.hear(JSON.stringify({state: 'asking', ...self}), false);
	claim.hear(dead, true);
	claim.hear(dead, false);
	claim.release();
	t.deepEqual(said, ['asking', 'asking', 'online, retained', 'nothing, retained', 'yields to dead']);
});

test('a late will takes no name away from who has it', t => {
	const {run, flow, pass, publish, owner} = aTopic();
	run('a', 1).connect();
	flow();
	publish('', true);
	pass(100);
	t.is(owner(), 'a');
});

test('who was away comes back to its name, unless another has it by now', t => {
	const {run, flow, pass, log} = aTopic();
	const a = run('a', 1);
	a.connect();
	flow();
	a.die();
	a.connect();
	t.false(a.claim.isHeld());
	pass(1_000);
	t.true(a.claim.isHeld());
	t.deepEqual(log, ['a has it', 'a has it']);
	a.die();
	flow();
	run('b', 2).connect();
	pass(1_000);
	a.connect();
	pass(limits.userSystemClaimMs + 1_000);
	t.deepEqual(log, ['a has it', 'a has it', 'b has it', 'a yields to b']);
	t.false(a.claim.isHeld());
});

test('should two have it after all, the one that began later yields', t => {
	const {run, flow, pass, log, publish} = aTopic();
	const [a, b] = [run('a', 1), run('b', 2)];
	a.connect();
	flow();
	// A broker that lost all, and hands on to neither what the other says, until now.
	a.leave();
	publish('', true);
	b.connect();
	flow();
	b.leave();
	publish('', true);
	a.connect();
	flow();
	const online = (boot: string): string =>
		JSON.stringify({state: 'online', boot, sinceMs: boot === 'a' ? 1 : 2, host: 'h', pid: 1, file: 'f'});
	for (let round = 0; round < 10; round += 1) a.claim.hear(online('b'), false);
	t.deepEqual(log, ['a has it', 'b has it', 'a has it']);
	b.claim.connected();
	for (let each = 0; each < 2; each += 1) b.claim.hear(JSON.stringify({...(JSON.parse(online('b')) as object), state: 'asking'}), false);
	b.claim.hear(online('b'), false);
	for (let round = 0; round < 10; round += 1) b.claim.hear(online('a'), false);
	t.deepEqual(log, ['a has it', 'b has it', 'a has it', 'b has it', 'b yields to a']);
	pass(limits.userSystemPresenceMs);
});

test('it says again every few seconds that it is there', t => {
	const {run, flow, pass, publish, owner} = aTopic();
	run('a', 1).connect();
	flow();
	publish('garbage', true);
	pass(limits.userSystemPresenceMs + 100);
	t.is(owner(), 'a');
});

test('a question that is lost is asked again', t => {
	const {clock, run, flow, pass, log} = aTopic();
	const a = run('a', 1);
	a.claim.connected();
	flow();
	t.deepEqual(log, []);
	a.connect();
	clock.advance(1);
	pass(1_000);
	t.deepEqual(log, ['a has it']);
});
