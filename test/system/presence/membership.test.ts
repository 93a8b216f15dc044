// Who is dead: never before the grace, never while the observer could not have heard, and only by the readings' own clock.

import test from 'ava';
import fc from 'fast-check';
import {limits} from '../../../api/limits.js';
import {paceOf, usualPace, type Pace} from '../../../system/presence/pace.js';
import type {Presence} from '../../../api/presence.js';
import {
	forgetMember,
	observe,
	silenceMs,
	type Membership,
	type MemberState,
	type Signs,
	type MemberStanding,
} from '../../../system/presence/membership.js';

const {signsMs, suspectAfterMs, nodeGraceMs, announcedRestartMs, observerLagMs} = limits;

/** An observer that reads every 250 ms, and nodes that beat unless they are told not to. */
class Watch {
	membership: Membership | undefined;
	atMs = 1_000;
	pace: Pace = usualPace;
	readonly roster: Map<string, MemberStanding>;
	readonly silent = new Set<string>();

	constructor(...names: readonly string[]) {
		this.roster = new Map(names.map(name => [name, 'remote']));
	}

	read(overrides: Partial<Signs> = {}): this {
		const beats = [...this.roster.keys()].filter(name => !this.silent.has(name));
		const signs: Signs = {atMs: this.atMs, lagMs: 0, canaryHeard: true, beats, packets: beats, presences: [], ...overrides};
		this.membership = observe(this.membership, signs, this.roster, this.pace);
		this.atMs = signs.atMs + signsMs;
		return this;
	}

	/** Readings for so long. */
	pass(ms: number, overrides: Omit<Partial<Signs>, 'atMs'> = {}): this {
		for (let left = ms; left > 0; left -= signsMs) this.read(overrides);
		return this;
	}

	say(node: string, presence: Presence): this {
		return this.read({presences: [{node, ...presence}]});
	}

	state(name: string): MemberState | undefined {
		return this.membership?.members.get(name)?.state;
	}

	frozen(name: string): boolean | undefined {
		return this.membership?.members.get(name)?.frozen;
	}

	evictable(name: string): boolean | undefined {
		return this.membership?.members.get(name)?.isEvictable;
	}
}

const online = (boot: string, connection = 1): Presence => ({state: 'online', boot, connection});
const offline = (boot: string, connection = 1): Presence => ({state: 'offline', boot, connection});
const restarting = (boot: string, connection = 1): Presence => ({state: 'restarting', boot, connection});

/** Three nodes that have been heard for ten seconds; then node a falls silent. */
const silenced = (...names: readonly string[]): Watch => {
	const watch = new Watch(...(names.length === 0 ? ['a', 'b', 'c'] : names)).pass(10_000);
	watch.silent.add('a');
	return watch;
};

/** Until beats count that come after a silence. */
const steadyMs = usualPace.beatMs + limits.signsMs;

test('a node is unknown until something is heard of it', t => {
	const watch = new Watch('a', 'b');
	watch.silent.add('a');
	watch.read();
	t.is(watch.state('a'), 'unknown');
	t.is(watch.state('b'), 'alive');
	watch.silent.clear();
	t.is(watch.read().state('a'), 'alive');
});

test('without beats it is suspect after 1.5 s and dead after 5 s, and the others are not', t => {
	const watch = silenced();
	t.is(watch.pass(suspectAfterMs - signsMs).state('a'), 'alive');
	t.is(watch.read().state('a'), 'suspect');
	t.is(watch.pass(nodeGraceMs - suspectAfterMs - signsMs).state('a'), 'suspect');
	t.is(watch.read().state('a'), 'dead');
	t.true(watch.evictable('a'));
	t.deepEqual(
		['b', 'c'].map(name => watch.state(name)),
		['alive', 'alive'],
	);
});

test('with a grace of a second suspicion and death come in proportion sooner', t => {
	const watch = silenced();
	watch.pace = paceOf(1_000);
	t.is(watch.pass(2 * signsMs).state('a'), 'alive');
	t.is(watch.read().state('a'), 'suspect');
	t.is(watch.read().state('a'), 'dead');
	t.true(watch.evictable('a'));
	t.is(watch.state('b'), 'alive');
});

test('with a grace of a second an observer that stood still for a fifth of that judges nobody for as long as a whole one', t => {
	const watch = silenced();
	watch.pace = paceOf(1_000);
	watch.pass(1_000, {lagMs: 200});
	t.not(watch.state('a'), 'dead');
	watch.pass(1_000 - signsMs);
	t.not(watch.state('a'), 'dead');
	t.is(watch.pass(2 * signsMs).state('a'), 'dead');
});

test('a long grace leaves suspicion as it is, and waits', t => {
	const watch = silenced();
	watch.pace = paceOf(60_000);
	t.is(watch.pass(suspectAfterMs).state('a'), 'suspect');
	t.is(watch.pass(60_000 - suspectAfterMs - signsMs).state('a'), 'suspect');
	t.is(watch.read().state('a'), 'dead');
});

test('a will makes it suspect at once, dead only after the whole grace', t => {
	const watch = silenced().say('a', online('boot'));
	t.is(watch.say('a', offline('boot')).state('a'), 'suspect');
	t.is(watch.pass(nodeGraceMs - 3 * signsMs).state('a'), 'suspect');
	t.is(watch.read().state('a'), 'dead');
});

test('a beat after the will means that it lives', t => {
	const watch = silenced().say('a', online('boot')).say('a', offline('boot'));
	t.is(watch.state('a'), 'suspect');
	t.is(watch.read({beats: ['a', 'b', 'c'], packets: ['a', 'b', 'c']}).state('a'), 'alive');
});

test('a beat and a will in one reading: the next beat decides', t => {
	const watch = new Watch('a', 'b', 'c').pass(1_000).say('a', offline('boot'));
	t.is(watch.state('a'), 'suspect');
	t.is(watch.read().state('a'), 'alive');
});

test('late wills of earlier connections and of earlier boots mean nothing', t => {
	const watch = new Watch('a', 'b', 'c').pass(1_000).say('a', online('one', 4)).say('a', online('one', 5));
	t.is(watch.say('a', offline('one', 4)).state('a'), 'alive');
	watch.say('a', online('two', 1));
	t.is(watch.say('a', offline('one', 5)).state('a'), 'alive');
	t.is(watch.say('a', offline('two', 1)).state('a'), 'suspect');
});

test('a presence that is told again is no news', t => {
	const watch = new Watch('a', 'b', 'c').pass(1_000).say('a', offline('one')).read();
	t.is(watch.say('a', offline('one')).state('a'), 'alive');
	watch.say('a', restarting('one', 2));
	watch.silent.add('a');
	watch.pass(announcedRestartMs - signsMs);
	t.is(watch.state('a'), 'restarting');
	t.is(watch.say('a', restarting('one', 2)).state('a'), 'dead');
});

test('packets without beats keep it suspect and from being dead', t => {
	const watch = silenced();
	for (let round = 0; round < 100; round++) {
		watch.read({packets: ['a', 'b', 'c']});
		if (round > 6) t.is(watch.state('a'), 'suspect');
	}
});

test('after a silence beats bring it back that come steadily, and not what TCP sends again of a host that hears nothing', t => {
	const watch = silenced().pass(20_000);
	t.is(watch.state('a'), 'dead');
	t.is(watch.read({packets: ['a', 'b', 'c']}).state('a'), 'suspect');
	for (const silentMs of [1_600, 3_200, 6_400]) {
		t.is(watch.read({beats: ['a', 'b', 'c'], packets: ['a', 'b', 'c']}).state('a'), 'suspect');
		watch.pass(silentMs);
	}
	watch.silent.clear();
	t.is(watch.pass(usualPace.beatMs).state('a'), 'suspect');
	t.is(watch.pass(signsMs).state('a'), 'alive');
});

test('one that says after a silence that it is connected anew is back, its beats have a moment to follow', t => {
	const watch = silenced().pass(2_000);
	t.is(watch.state('a'), 'suspect');
	t.is(watch.say('a', online('boot', 2)).state('a'), 'alive');
	t.is(watch.pass(suspectAfterMs - signsMs).state('a'), 'alive');
	t.is(watch.read().state('a'), 'suspect');
});

test('one of which a packet is the first that is heard is there, its beat has a moment to follow', t => {
	const watch = new Watch('a', 'b', 'c');
	watch.silent.add('a');
	t.is(watch.read().state('a'), 'unknown');
	t.is(watch.read({packets: ['a', 'b', 'c']}).state('a'), 'alive');
	t.is(watch.pass(suspectAfterMs - signsMs).state('a'), 'alive');
	t.is(watch.read().state('a'), 'suspect');
});

test('an announced restart has a minute, and ends when the agent is back', t => {
	const watch = silenced().say('a', restarting('one'));
	t.is(watch.state('a'), 'restarting');
	t.is(watch.say('a', offline('one')).state('a'), 'restarting');
	t.is(watch.pass(announcedRestartMs - 3 * signsMs).state('a'), 'restarting');
	t.is(watch.pass(2 * signsMs).state('a'), 'dead');
	const back = silenced().say('a', restarting('one')).pass(30_000);
	back.silent.clear();
	t.is(back.say('a', online('two')).state('a'), 'alive');
});

test('a beat of another boot ends an announced restart, also where its own word was lost; one of that boot, or of one before, does not', t => {
	const watch = silenced()
		.say('a', online('zero'))
		.say('a', restarting('one'))
		.read({boots: {a: 'two'}});
	t.is(watch.state('a'), 'restarting', 'no beat of it');
	watch.silent.clear();
	for (const boot of ['zero', 'one']) t.is(watch.read({boots: {a: boot}}).state('a'), 'restarting');
	t.is(watch.read({boots: {a: 'two'}}).state('a'), 'alive');
	t.is(watch.read().state('a'), 'alive');
});

test('nothing is dead before the observer has listened for a grace', t => {
	const watch = new Watch('a', 'b', 'c');
	watch.silent.add('a');
	watch.read();
	t.is(watch.pass(nodeGraceMs - signsMs).state('a'), 'unknown');
	t.is(watch.read().state('a'), 'dead');
});

test('an observer whose canary does not come back judges nobody, and listens for a grace after that', t => {
	const watch = silenced().pass(2_000, {canaryHeard: false}).pass(20_000, {canaryHeard: false});
	t.is(watch.state('a'), 'suspect');
	t.is(watch.pass(nodeGraceMs).state('a'), 'suspect');
	t.is(watch.read().state('a'), 'dead');
	t.is(new Watch('a').pass(60_000).membership?.wellSinceMs, 1_000);
});

test('a canary that is late once is no harm', t => {
	const watch = silenced();
	for (let round = 0; round < 20; round++) watch.read({canaryHeard: round % 3 === 0});
	t.is(watch.read().state('a'), 'dead');
});

test('an observer that stood still suspects nobody for it, and nobody is dead before another grace', t => {
	const watch = silenced().pass(1_000);
	const frozenMs = watch.atMs + 60_000;
	watch.read({atMs: frozenMs, lagMs: 60_000, beats: [], packets: []});
	t.deepEqual(
		['a', 'b', 'c'].map(name => watch.state(name)),
		['alive', 'alive', 'alive'],
	);
	watch.pass(nodeGraceMs);
	t.deepEqual(
		['a', 'b', 'c'].map(name => watch.state(name)),
		['suspect', 'alive', 'alive'],
	);
	t.is(watch.read().state('a'), 'dead');
	// The same when only the readings are missing.
	const gap = silenced().pass(1_000);
	gap.read({atMs: gap.atMs + 60_000, beats: [], packets: []});
	t.deepEqual(
		['a', 'b', 'c'].map(name => gap.state(name)),
		['alive', 'alive', 'alive'],
	);
});

test('who is dead stays so while the observer is unwell, but is not evicted', t => {
	const watch = silenced().pass(10_000);
	t.true(watch.evictable('a'));
	watch.read({lagMs: observerLagMs});
	t.is(watch.state('a'), 'dead');
	t.false(watch.evictable('a'));
	watch.pass(nodeGraceMs);
	t.false(watch.evictable('a'));
	t.true(watch.read().evictable('a'));
});

test('nobody is dead while too many are silent; half of them back ends that, one grace later', t => {
	const watch = new Watch('a', 'b', 'c', 'd').pass(10_000);
	for (const name of ['a', 'b', 'c']) watch.silent.add(name);
	watch.pass(nodeGraceMs - signsMs);
	t.false(watch.frozen('a'));
	watch.read();
	t.deepEqual(
		['a', 'b', 'c', 'd'].map(name => watch.frozen(name)),
		[true, true, true, false],
	);
	watch.pass(60_000);
	t.deepEqual(
		['a', 'b', 'c'].map(name => watch.state(name)),
		['suspect', 'suspect', 'suspect'],
	);
	watch.silent.delete('c');
	watch.pass(steadyMs);
	t.deepEqual(
		['a', 'b', 'c'].map(name => watch.frozen(name)),
		[false, false, false],
	);
	watch.pass(nodeGraceMs - signsMs);
	t.is(watch.state('a'), 'suspect');
	watch.read();
	t.deepEqual(
		['a', 'b', 'c'].map(name => watch.state(name)),
		['dead', 'dead', 'alive'],
	);
});

test('the only node is never dead, one of two is', t => {
	const alone = silenced('a').pass(60_000);
	t.is(alone.state('a'), 'suspect');
	t.true(alone.frozen('a'));
	t.is(silenced('a', 'b').pass(nodeGraceMs).state('a'), 'dead');
});

test('evictions of one that is dead already rest too while many are silent', t => {
	const watch = silenced('a', 'b', 'c').pass(10_000);
	t.true(watch.evictable('a'));
	watch.silent.add('b');
	watch.pass(suspectAfterMs);
	t.is(watch.state('a'), 'dead');
	t.false(watch.evictable('a'));
	t.true(watch.frozen('a'));
});

test('one that is confirmed as lost is dead though all are silent, and does not count any more', t => {
	const watch = silenced('a', 'b', 'c');
	watch.silent.add('b').add('c');
	watch.pass(10_000);
	watch.roster.set('a', 'lost');
	watch.read();
	t.is(watch.state('a'), 'dead');
	t.true(watch.evictable('a'));
	t.is(watch.membership?.counted, 2);
	t.is(watch.state('b'), 'suspect');
	watch.roster.set('b', 'lost');
	watch.silent.delete('a');
	t.is(watch.pass(steadyMs).state('a'), 'alive');
});

test('also the confirmed are not dead before the observer has listened for a grace', t => {
	const watch = new Watch('a', 'b');
	watch.roster.set('a', 'lost');
	watch.silent.add('a');
	watch.read();
	t.is(watch.pass(nodeGraceMs - signsMs).state('a'), 'unknown');
	t.is(watch.read().state('a'), 'dead');
});

test('who lives in this process is alive, whatever is heard', t => {
	const watch = new Watch('a', 'b');
	watch.roster.set('a', 'local');
	watch.pass(60_000, {beats: [], packets: []});
	t.is(watch.state('a'), 'alive');
	t.is(watch.state('b'), 'dead');
});

test('what is left of a departed one is looked after when nothing was heard for a grace, and only then', t => {
	const watch = silenced('a', 'b', 'c');
	watch.silent.add('b').add('c');
	watch.pass(10_000);
	watch.roster.set('a', 'departed');
	watch.membership = forgetMember(watch.membership as Membership, 'a');
	watch.pass(nodeGraceMs);
	t.false(watch.evictable('a'));
	t.true(watch.read().evictable('a'));
	watch.silent.clear();
	t.false(watch.pass(20_000).evictable('a'));
});

test('strangers are not remembered', t => {
	const watch = new Watch('a').read({beats: ['x', 'y'], packets: ['z'], presences: [{node: 'w', ...online('b')}]});
	t.deepEqual([...(watch.membership?.members.keys() ?? [])], ['a']);
});

test('a clock that goes back does not', t => {
	const watch = silenced().pass(1_000);
	const before = watch.membership?.atMs;
	watch.read({atMs: 0});
	t.is(watch.membership?.atMs, before);
});

// ---- for any history -------------------------------------------------------------------------------------------------------

const names = ['a', 'b', 'c', 'd'] as const;

const presences = fc.array(
	fc.record({
		node: fc.constantFrom(...names),
		state: fc.constantFrom('online' as const, 'offline' as const, 'restarting' as const),
		boot: fc.constantFrom('one', 'two', 'three'),
		connection: fc.integer({min: 1, max: 3}),
	}),
	{maxLength: 2},
);

const reading = fc.record({
	stepMs: fc.oneof({weight: 60, arbitrary: fc.constant(signsMs)}, fc.integer({min: 0, max: 8_000})),
	lagMs: fc.oneof({weight: 100, arbitrary: fc.constant(10)}, fc.integer({min: 0, max: 3_000})),
	canaryHeard: fc.oneof({weight: 30, arbitrary: fc.constant(true)}, fc.boolean()),
	presences: fc.oneof({weight: 10, arbitrary: fc.constant([])}, presences),
});

/** Stretches of readings in which the same nodes are silent: single readings would never make a silence. */
const stretch = fc.record({
	silent: fc.subarray([...names]),
	beatless: fc.subarray([...names], {maxLength: 1}),
	readings: fc.array(reading, {minLength: 1, maxLength: 40}),
});

test('never dead before its grace, never while the observer is unwell, and time never goes back', t => {
	let deaths = 0;
	fc.assert(
		fc.property(
			fc.array(stretch, {minLength: 1, maxLength: 6}),
			fc.constantFrom(...(['remote', 'lost', 'local', 'departed'] as const)),
			(history, ofD) => {
				const roster = new Map<string, MemberStanding>(names.map(name => [name, name === 'd' ? ofD : 'remote']));
				let membership: Membership | undefined;
				let atMs = 5_000;
				const read: {signs: Signs; after: Membership}[] = [];
				for (const {silent, beatless, readings} of history) {
					for (const {stepMs, ...rest} of readings) {
						atMs += stepMs;
						const packets = names.filter(name => !silent.includes(name));
						const signs: Signs = {atMs, packets, beats: packets.filter(name => !beatless.includes(name)), ...rest};
						const before = membership;
						membership = observe(membership, signs, roster);
						read.push({signs, after: membership});
						if (before !== undefined && membership.atMs < before.atMs) throw new Error('time went back');
						for (const [name, member] of membership.members) {
							if (silenceMs(membership, member) < 0) throw new Error('silent for less than nothing');
							if (member.heardAtMs !== undefined && member.heardAtMs < (before?.members.get(name)?.heardAtMs ?? 0))
								throw new Error('heard earlier');
							if (roster.get(name) === 'local' && member.state !== 'alive') throw new Error('a local one is not alive');
							if (member.isEvictable) {
								deaths++;
								refute(name, roster.get(name) ?? 'remote', read);
							}
							if (member.frozen && member.isEvictable) throw new Error('evicted though frozen');
						}
					}
				}
			},
		),
		{numRuns: 600},
	);
	t.true(deaths > 100, `only ${deaths}`);
});

/** Looks at the readings alone: throws when a node must not be evicted now. */
function refute(name: string, standing: MemberStanding, read: readonly {signs: Signs; after: Membership}[]): void {
	const nowMs = read.at(-1)?.signs.atMs ?? 0;
	const graceMs = standing === 'lost' ? suspectAfterMs : nodeGraceMs;
	if (nowMs - (read[0]?.signs.atMs ?? 0) < nodeGraceMs) throw new Error('within the first grace');
	const window = read.filter(({signs}) => signs.atMs > nowMs - graceMs);
	if (window.some(({signs}) => signs.packets.includes(name))) throw new Error('it was heard within the grace');
	if (standing === 'lost') return;
	if (window.some(({signs}) => signs.lagMs >= observerLagMs)) throw new Error('the observer lagged');
	const canaries = read.filter(({signs}) => signs.canaryHeard && signs.atMs > nowMs - nodeGraceMs);
	if (canaries.length === 0) throw new Error('the canary did not come back');
	if (standing === 'departed') return;
	for (const {after} of window) if (after.heard * 2 <= after.counted - 1) throw new Error('too few were heard');
}
