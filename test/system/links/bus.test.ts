import test from 'ava';
import type {Outcome} from '../../../api/errors.js';
import {address} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import type {Json} from '../../../api/object.js';
import {ActorSystem} from '../../../system/kernel/actor-system.js';
import type {Effect, Message} from '../../../system/kernel/behavior.js';
import {Bus, type BusOptions} from '../../../system/links/bus.js';
import {partsOf} from '../../../system/links/body-parts.js';
import type {LaneOf, Link, Packet} from '../../../system/links/link.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createMemoryNetwork} from '../../../system/links/memory-link.js';
import {seededRandom} from '../../../system/time/random.js';
import {createFifo, observing, passing} from '../kernel/actor-world.js';
import {act, getNotes, note, puppet, spawnPuppet} from '../kernel/puppet.js';

const acceptsAll = (): boolean => true;

/** Systems on one network of one world; a system of a name that is there already is its next incarnation. */
function aNetwork() {
	const clock = new ManualClock();
	const executor = createFifo();
	const network = createMemoryNetwork({defer: executor.defer});
	let boots = 0;
	const join = (name: string, {bulk, ...over}: Partial<BusOptions> & {readonly bulk?: Link} = {}) => {
		const log: string[] = [];
		const {observer, onEscalation: _none, ...seen} = observing();
		const bus = new Bus({
			boot: `boot-${++boots}`,
			clock,
			links: {control: network.link(name), ...(bulk === undefined ? {} : {bulk})},
			accepts: acceptsAll,
			measure: false,
			...over,
		});
		const system = new ActorSystem({
			name,
			executor,
			clock,
			random: seededRandom(1),
			behaviors: {puppet: puppet(line => log.push(line))},
			remote: (to, path, envelope) => bus.send(to, path, envelope),
			...(observer === undefined ? {} : {observer}),
		});
		bus.join(system);
		system.start('puppet', {});
		executor.run();
		return {
			...seen,
			bus,
			system,
			log,
			tell: (message: Message) => system.tell(address(name, ''), message, 'test'),
			ask(to: string, message: Message, deadlineMs = 1_000) {
				const outcomes: Outcome<unknown>[] = [];
				system.ask(address(to, ''), message, {deadlineMs, cause: 'test'}, outcome => outcomes.push(outcome));
				return outcomes;
			},
		};
	};
	return {clock, executor, network, join, run: executor.run, pass: passing(clock, executor)};
}

const askFar = (to: string, message: Message, id: string): Effect => ({type: 'ask', to: address(to, ''), message, as: 'answered', id});
const tellFar = (to: string, message: Message): Effect => ({type: 'tell', to: address(to, ''), message});

test('tell and ask do not care where an address lives', t => {
	const {join, run} = aNetwork();
	const [a, b] = [join('a'), join('b')];
	a.tell(act({effects: [tellFar('b', note('hello')), askFar('b', getNotes, '1')]}));
	const outside = a.ask('b', getNotes);
	run();
	t.deepEqual(b.log, [': init', ': note hello']);
	t.deepEqual(a.log, [': init', ': answered ["init","note hello"]']);
	t.deepEqual(outside, [{ok: true, value: ['init']}]);
	t.deepEqual(a.bus.peers(), ['b']);
});

test('a question to nobody of another system is answered at once, over there', t => {
	const {join, run} = aNetwork();
	const [a] = [join('a'), join('b')];
	const outcomes: Outcome<unknown>[] = [];
	a.system.ask('troupe://b/nobody', getNotes, {deadlineMs: 1_000, cause: 'test'}, outcome => outcomes.push(outcome));
	run();
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_NO_SUCH_ACTOR', details: {address: 'troupe://b/nobody'}}});
});

test('a question to a system that is not there ends with its deadline', t => {
	const {join, pass} = aNetwork();
	const a = join('a');
	const outcomes = a.ask('nowhere', getNotes, 1_000);
	pass(1_100);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_TIMEOUT'}});
	t.deepEqual(a.bus.peers(), []);
});

test('messages wait for a system that joins later', t => {
	const {join, run, pass} = aNetwork();
	const a = join('a');
	a.tell(act({effects: [tellFar('b', note('early'))]}));
	run();
	const b = join('b');
	pass(limits.streamResendMaxMs);
	t.deepEqual(b.log, [': init', ': note early']);
});

test('when a peer restarts, open questions fail with ERR_OUTCOME_UNKNOWN and only idempotent messages are sent again', t => {
	const {join, run, pass} = aNetwork();
	const a = join('a', {idempotent: new Set(['note'])});
	join('b');
	a.tell(act({effects: [tellFar('b', note('so that they know each other'))]}));
	run();
	pass(limits.streamAckMs);
	const b2 = join('b');
	a.tell(act({effects: [tellFar('b', note('again')), tellFar('b', {type: 'once'}), askFar('b', getNotes, '1')]}));
	const outside = a.ask('b', getNotes);
	run();
	t.deepEqual(a.log, [': init', ': answered ERR_OUTCOME_UNKNOWN']);
	t.like(outside[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	pass(10_000);
	t.deepEqual(b2.log, [': init', ': note again']);
	t.is(a.log.length, 2);
});

test('what is not on the list of a system is refused and counted, and its list sees sender, path and message', t => {
	const {join, run} = aNetwork();
	const seen: string[] = [];
	const [a, b] = [
		join('a'),
		join('b', {
			accepts(from, path, {type}) {
				seen.push(`${from} ${path} ${type}`);
				return type === 'note';
			},
		}),
	];
	a.tell(act({effects: [tellFar('b', {type: 'act'}), tellFar('b', note('fine'))]}));
	run();
	t.deepEqual(b.log, [': init', ': note fine']);
	t.is(b.bus.counters.refused, 1);
	t.deepEqual(seen, ['a troupe://b/ act', 'a troupe://b/ note']);
});

// ---- lanes ------------------------------------------------------------------------------------------------------------------------------

/** Two networks, one per lane; the root of a system is bulky, its child `small` is not. */
function twoLanes() {
	const bulkNetwork = createMemoryNetwork({
		defer: callback => {
			held.push(callback);
		},
	});
	const held: (() => void)[] = [];
	const world = aNetwork();
	const laneOf: LaneOf = (from, to) => ([from, to].some(each => each.endsWith('/big')) ? 'bulk' : 'control');
	const join = (name: string) => world.join(name, {laneOf, bulk: bulkNetwork.link(name)});
	/** Lets what is on the bulk lane through, until nothing is. */
	const release = (): void => {
		for (let round = 0; round < 20; round++) {
			for (const deliver of held.splice(0)) deliver();
			world.run();
		}
	};
	return {...world, join, release, held};
}

test('what is held up on one lane does not hold up the other, and comes in order when it goes on', t => {
	const {join, run, release} = twoLanes();
	const [a, b] = [join('a'), join('b')];
	b.tell(act({effects: [spawnPuppet('big')]}));
	run();
	const big = (text: string): Effect => ({type: 'tell', to: address('b', 'big'), message: note(text)});
	a.tell(act({effects: [big('1'), tellFar('b', note('quick')), big('2'), big('3')]}));
	run();
	t.deepEqual(b.log, [': init', 'big: init', ': note quick']);
	release();
	t.deepEqual(b.log.slice(3), ['big: note 1', 'big: note 2', 'big: note 3']);
	t.deepEqual(a.bus.peers(), ['b']);
});

test('an answer takes the lane of its question', t => {
	const {join, run, release, held} = twoLanes();
	const [a, b] = [join('a'), join('b')];
	b.tell(act({effects: [spawnPuppet('big')]}));
	run();
	const outcomes: Outcome<unknown>[] = [];
	a.system.ask('troupe://b/big', getNotes, {deadlineMs: 10_000, cause: 'test'}, outcome => outcomes.push(outcome));
	run();
	t.true(held.length > 0);
	t.deepEqual(outcomes, []);
	release();
	t.deepEqual(outcomes, [{ok: true, value: ['init']}]);
});

test('that a peer restarted is found out lane by lane, and fails the open questions of that lane only', t => {
	const {join, run, release, pass} = twoLanes();
	const a = join('a');
	const b = join('b');
	b.tell(act({effects: [spawnPuppet('big')]}));
	run();
	const asked = (path: string): Outcome<unknown>[] => {
		const outcomes: Outcome<unknown>[] = [];
		const to = address('b', path);
		// Nobody answers a note.
		a.system.ask(to, note('unanswered'), {deadlineMs: 60_000, cause: 'test'}, outcome => outcomes.push(outcome));
		return outcomes;
	};
	const [bulk, control] = [asked('big'), asked('')];
	a.tell(
		act({
			effects: [{type: 'ask', to: address('b', 'big'), message: note('x'), as: 'answered', id: 'bulk'}, askFar('b', note('x'), 'control')],
		}),
	);
	run();
	release();
	pass(limits.streamAckMs);
	join('b');
	a.tell(act({effects: [tellFar('b', note('so that they meet'))]}));
	run();
	t.like(control[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	t.is(bulk.length, 0);
	t.deepEqual(a.log.slice(1), [': answered ERR_OUTCOME_UNKNOWN']);
	a.tell(act({effects: [{type: 'tell', to: address('b', 'big'), message: note('on the other lane, too')}]}));
	run();
	release();
	pass(limits.streamResendMaxMs);
	release();
	t.like(bulk[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	t.is(a.log.length, 3);
});

test('without a bulk link everything takes the other lane', t => {
	const {join, run} = aNetwork();
	const laneOf: LaneOf = () => 'bulk';
	const [a, b] = [join('a', {laneOf}), join('b', {laneOf})];
	a.tell(act({effects: [tellFar('b', note('arrives'))]}));
	run();
	t.is(b.log.at(-1), ': note arrives');
});

// ---- peers that lie --------------------------------------------------------------------------------------------------------------------

/** A peer `evil` that speaks the stream by hand and says these bodies. */
function hearing(bodies: readonly Json[]) {
	const {join, run, network, pass} = aNetwork();
	const relayed: string[] = [];
	const victim = join('victim');
	const bystander = join('bystander');
	bystander.tell(act({effects: [tellFar('victim', note('hello'))]}));
	run();
	const evil = network.link('evil');
	let told = false;
	evil.onPacket((from, packet: Packet) => {
		if (packet.probe !== undefined) evil.send(from, {boot: 'e', peerBoot: packet.boot, sequence: 0, acknowledged: 0, echo: packet.probe});
		if (told) return;
		told = true;
		for (const [index, body] of bodies.entries())
			evil.send(from, {boot: 'e', peerBoot: packet.boot, sequence: index + 1, acknowledged: 0, body});
	});
	evil.send('victim', {boot: 'e', sequence: 0, acknowledged: 0});
	run();
	pass(1_000);
	return {victim, bystander, relayed};
}

const from = 'troupe://evil/x';
const to = 'troupe://victim/';

test('a body that is no message is refused, whatever it is, and the stream goes on', t => {
	const bad: Json[] = [
		null,
		7,
		'text',
		[],
		{},
		{to, from, cause: 'x'},
		{to, from, cause: 'x', message: null},
		{to, from, cause: 'x', message: []},
		{to, from, cause: 'x', message: {type: 7}},
		{to, from, cause: 7, message: {type: 'note'}},
		{to: 7, from, cause: 'x', message: {type: 'note'}},
		{to, from: {}, cause: 'x', message: {type: 'note'}},
		{to, from, cause: 'x', message: {type: 'note', replyTo: 'x'}},
		{to, from, cause: 'x', message: {type: 'note', replyTo: null}},
		{to, from, cause: 'x', message: {type: 'note', replyTo: {to: from, as: 'x'}}},
	];
	const {victim} = hearing([...bad, {to, from, cause: 'x', message: {type: 'note', text: 'fine'}}]);
	t.is(victim.bus.counters.refused, bad.length);
	t.is(victim.log.at(-1), ': note fine');
	t.deepEqual(victim.lifecycle, []);
});

test('a peer cannot speak for another, use this system as a relay, or have answers sent to others', t => {
	const replyTo = {to: 'troupe://bystander/', as: 'note', id: '1'};
	const {victim, bystander} = hearing([
		{to, from: 'troupe://bystander/', cause: 'x', message: {type: 'note'}},
		{to, from: 'troupe://evil', cause: 'x', message: {type: 'note'}},
		{to, from: 'troupe://evil.bystander/x', cause: 'x', message: {type: 'note'}},
		{to: 'troupe://bystander/', from, cause: 'x', message: {type: 'note', text: 'relayed'}},
		{to: 'troupe://victim/nobody', from, cause: 'x', message: {type: 'note', replyTo}},
		{to, from, cause: 'x', message: {type: 'getNotes', replyTo: {...replyTo, to: 'troupe://victim/'}}},
	]);
	t.is(victim.bus.counters.refused, 6);
	t.deepEqual(bystander.log, [': init']);
	t.deepEqual(victim.log, [': init', ': note hello']);
});

test('a peer cannot answer what was asked of another', t => {
	const {join, run, pass} = aNetwork();
	const [a] = [join('a'), join('b'), join('evil')];
	const evil = join('evil');
	a.tell(act({effects: [askFar('b', note('no answer'), '1')]}));
	const outside = a.ask('b', note('no answer'));
	run();
	const forged = (path: string, as: string): Effect => ({
		type: 'reply',
		to: {to: address('a', path), as, id: '1'},
		outcome: {ok: true, value: 'forged'},
	});
	evil.tell(act({effects: [forged('', 'answered'), forged('edge', 'edge')]}));
	run();
	t.deepEqual(outside, []);
	t.deepEqual(a.log, [': init']);
	t.is(a.system.counters.staleReplies, 2);
	pass(limits.askDeadlineMs + 100);
	t.deepEqual(a.log, [': init', ': answered ERR_TIMEOUT']);
});

// ---- limits ------------------------------------------------------------------------------------------------------------------------------

test('when the window to a peer is full, tells are dead letters and asks fail at once', t => {
	const {join} = aNetwork();
	const a = join('a');
	for (let index = 0; index < limits.streamWindowMessages; index++) a.system.tell('troupe://away/x', note(`${index}`), 'test');
	a.system.tell('troupe://away/x', note('one too many'), 'test');
	const outcomes = a.ask('away', getNotes);
	t.is(a.bus.counters.full, 2);
	t.deepEqual(
		a.deadLetters.map(({messageType, why}) => [messageType, why]),
		[
			['note', 'busy'],
			['getNotes', 'busy'],
		],
	);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
});

test('where bodies are measured, one that no packet holds is refused by its bytes, not its characters', t => {
	const {join, run} = aNetwork();
	const a = join('a', {measure: true});
	const b = join('b');
	const fits = 'x'.repeat(limits.streamBodyBytes - 1_000);
	const outcomes = a.ask('b', note('ü'.repeat(limits.streamBodyBytes / 2)));
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_TOO_LARGE'}});
	a.tell(act({effects: [tellFar('b', note(fits))]}));
	run();
	t.is(b.log.at(-1)?.length, ': note '.length + fits.length);
});

test('a closed bus takes nothing, gives nothing and keeps no timer', async t => {
	const {join, run, clock} = aNetwork();
	const [a, b] = [join('a'), join('b')];
	a.tell(act({effects: [tellFar('b', note('x'))]}));
	run();
	await a.bus.close();
	await b.bus.close();
	const outcomes = a.ask('b', getNotes);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
	t.is(clock.nextAtMs(), undefined);
});

test('a system that never comes back is forgotten with what waits for it, and met anew should it come', t => {
	const {clock, run, pass, join} = aNetwork();
	const begun: string[] = [];
	const a = join('a', {onBegin: peer => begun.push(peer)});
	const b = join('b');
	a.tell(act({effects: [tellFar('b', note('first'))]}));
	run();
	a.tell(act({effects: [tellFar('gone', note('lost'))]}));
	const outcomes = a.ask('gone', getNotes, 10 * limits.streamSilentMs);
	run();
	for (let waitedMs = 0; waitedMs <= limits.streamSilentMs; waitedMs += limits.streamResendMaxMs) pass(limits.streamResendMaxMs);
	t.deepEqual(begun, ['gone']);
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	t.is(clock.nextAtMs(), undefined, 'nothing is sent to it any more');

	const back = join('gone');
	a.tell(act({effects: [tellFar('gone', note('second')), tellFar('b', note('third'))]}));
	run();
	t.deepEqual(back.log, [': init', ': note second']);
	t.deepEqual(b.log, [': init', ': note first', ': note third']);
});

test('of a system that is no peer nothing is taken, and nothing kept', t => {
	const {join, run} = aNetwork();
	const a = join('a', {isPeer: peer => peer === 'b'});
	const [b, c] = [join('b'), join('c')];
	for (const each of [b, c]) each.tell(act({effects: [tellFar('a', note(`from ${each.system.name}`))]}));
	run();
	t.deepEqual(a.log, [': init', ': note from b']);
	t.deepEqual(a.bus.peers(), ['b']);
});

test('a peer that is forgotten has its open questions ended at once, and is met anew', t => {
	const {join, run} = aNetwork();
	const [a, b] = [join('a'), join('b')];
	a.tell(act({effects: [tellFar('b', note('one'))]}));
	run();
	const outcomes = a.ask('b', note('that is not answered'));
	run();
	a.bus.forget('b');
	t.like(outcomes[0], {ok: false, error: {code: 'ERR_OUTCOME_UNKNOWN'}});
	t.deepEqual(a.bus.peers(), []);
	a.bus.forget('nobody');
	a.tell(act({effects: [tellFar('b', note('two'))]}));
	run();
	t.is(b.log.at(-1), ': note two');
});

test('a body that is larger than a packet may be goes in parts, and is whole and in its place at the other end', t => {
	const {join, run} = aNetwork();
	const a = join('a', {measure: true, bodyBytes: 1_000});
	const b = join('b');
	a.tell(act({effects: [tellFar('b', note('first')), tellFar('b', note('ä"\\'.repeat(2_000))), tellFar('b', note('last'))]}));
	const large = a.ask('b', note('x'.repeat(limits.partedBodyBytes)));
	run();
	t.deepEqual(b.log, [': init', ': note first', `: note ${'ä"\\'.repeat(2_000)}`, ': note last']);
	const parts = partsOf({text: 'ä"\\'.repeat(2_000)}, 1_000);
	t.true(parts.length > 10 && parts.every(part => Buffer.byteLength(JSON.stringify(part)) <= 1_000));
	t.like(large[0], {ok: false, error: {code: 'ERR_TOO_LARGE'}});
	t.is(b.bus.counters.refused, 0);
});

/** A peer that says on its stream whatever it likes. */
function aStranger({network, run}: ReturnType<typeof aNetwork>, name: string): (body: Json) => void {
	const peer = network.link(name);
	const bootOfIt = `boot-${name}`;
	let boot: string | undefined;
	let sequence = 0;
	peer.onPacket((_from, packet) => {
		boot = packet.boot;
		if (packet.probe !== undefined)
			peer.send('b', {boot: bootOfIt, peerBoot: packet.boot, sequence: 0, acknowledged: 0, echo: packet.probe});
	});
	peer.send('b', {boot: bootOfIt, sequence: 0, acknowledged: 0});
	run();
	return body =>
		peer.send('b', {boot: bootOfIt, ...(boot === undefined ? {} : {peerBoot: boot}), sequence: ++sequence, acknowledged: 0, body});
}

test('parts that make no body are counted, and keep no memory', t => {
	const world = aNetwork();
	const {join, run} = world;
	const b = join('b');
	const say = aStranger(world, 'a');
	const refused = (): number => b.bus.counters.refused;
	const cases: readonly (readonly [parts: readonly Json[], refused: number])[] = [
		[[{part: 1, of: 2, text: ''}], 1],
		[
			[
				{part: 0, of: 2, text: 'e30='},
				{part: 0, of: 1, text: 'e30='},
			],
			1,
		],
		[[{part: 0, of: 1, text: '%%'}], 1],
		[[{part: 0, of: 1, text: Buffer.from('['.repeat(10_000)).toString('base64')}], 1],
		[
			[
				{part: 0, of: 9, text: 'x'.repeat(limits.partedBodyBytes)},
				{part: 1, of: 9, text: 'x'.repeat(limits.partedBodyBytes + 1)},
				{part: 2, of: 9, text: ''},
			],
			2,
		],
	];
	for (const [parts, count] of cases) {
		const before = refused();
		for (const part of parts) say(part);
		run();
		t.is(refused() - before, count, JSON.stringify(parts).slice(0, 80));
	}
});

test('what a peer that is gone left unfinished takes no room from others', t => {
	const world = aNetwork();
	const {join, run} = world;
	const b = join('b');
	const begun = {part: 0, of: 2, text: 'x'.repeat(limits.partedBodyBytes * 2)};
	for (let left = limits.partedBodiesBytes; left >= 0; left -= begun.text.length) {
		const name = `gone-${left}`;
		aStranger(world, name)(begun);
		run();
		b.bus.forget(name);
	}
	t.is(b.bus.counters.refused, 0);
	join('a', {measure: true, bodyBytes: 1_000}).tell(act({effects: [tellFar('b', note('y'.repeat(2_000)))]}));
	run();
	t.is(b.bus.counters.refused, 0);
	t.is(b.log.at(-1), `: note ${'y'.repeat(2_000)}`);
});

test('the span of a traced step goes along, and one that makes no sense is left out while its message is taken', t => {
	const {join, run} = aNetwork();
	const [a, b] = [join('a'), join('b')];
	const spans: unknown[] = [];
	b.system.kernel.probe = {
		arrives(_cell, envelope) {
			spans.push(envelope.span);
			return envelope;
		},
		begins: (_cell, trigger) => trigger,
		happens: () => undefined,
		refused: () => undefined,
	};
	const good = {id: 'a:1', traces: ['one'], hops: 0};
	const bad = [
		...[null, 7, 'a:1', [], {}, {...good, id: 7}, {...good, id: 'x'.repeat(10_000)}, {...good, traces: 'one'}, {...good, traces: [7]}],
		...[
			{...good, traces: Array.from({length: limits.traces + 1}, () => 'one')},
			{...good, hops: -1},
			{...good, hops: 0.5},
			{...good, hops: '0'},
		],
	];
	for (const span of [good, ...bad])
		a.bus.send('b', address('b', ''), {
			message: note('x'),
			from: address('a', ''),
			cause: 'test',
			outside: false,
			span: span as typeof good,
		});
	run();
	t.deepEqual(spans, [good, ...bad.map(() => undefined)]);
	t.is(b.log.filter(line => line.includes('note x')).length, 1 + bad.length);
});
