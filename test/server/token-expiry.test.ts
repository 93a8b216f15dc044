import test from 'ava';
import {limits} from '../../api/limits.js';
import {followExpiry} from '../../server/token-expiry.js';
import {openTokens} from '../../server/tokens.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {keptInMemory, plainVault} from './support.js';

function followed() {
	const clock = new ManualClock();
	const expired: string[] = [];
	const expiry = followExpiry(clock, name => expired.push(name));
	return {clock, expired, expiry};
}

test('each token is told once when it expires, whatever else has no end or was deleted', async t => {
	const {clock, expired, expiry} = followed();
	const tokens = openTokens(plainVault(), clock.nowMs, expiry.follow);
	await tokens.issue('forever', 'view');
	t.is(clock.nextAtMs(), undefined);
	await tokens.issue('late', 'view', {ttlMs: 30_000});
	await tokens.issue('early', 'view', {ttlMs: 10_000});
	await tokens.issue('deleted', 'view', {ttlMs: 20_000});
	await tokens.revoke('deleted');
	clock.advance(9_999);
	t.deepEqual(expired, []);
	clock.advance(1);
	t.deepEqual(expired, ['early']);
	clock.advance(limits.tokenLookMs);
	t.deepEqual(expired, ['early', 'late']);
	t.is(clock.nextAtMs(), undefined);
});

test('tokens of an earlier start expire as well, those that have done so are no news', async t => {
	const kept = keptInMemory();
	const {clock, expired, expiry} = followed();
	const before = openTokens(kept, clock.nowMs);
	await before.issue('gone', 'view', {ttlMs: 1_000});
	await before.issue('still', 'view', {ttlMs: 5_000});
	clock.advance(2_000);
	openTokens(kept, clock.nowMs, expiry.follow);
	clock.advance(3_000);
	t.deepEqual(expired, ['still']);
});

test('a far expiry is looked at again and again, since wall time may be set; a stop ends that', t => {
	const {clock, expired, expiry} = followed();
	const setBack = {...clock, nowMs: () => clock.nowMs() + wallMs, after: clock.after};
	let wallMs = 0;
	const moved = followExpiry(setBack, name => expired.push(name));
	moved.follow([{name: 'ci', role: 'edit', createdAtMs: 0, expiresAtMs: clock.nowMs() + limits.tokenTtlMaxMs}]);
	t.is(clock.nextAtMs(), clock.nowMs() + limits.tokenLookMs);
	wallMs = limits.tokenTtlMaxMs;
	clock.advance(limits.tokenLookMs);
	t.deepEqual(expired, ['ci']);
	expiry.follow([{name: 'x', role: 'edit', createdAtMs: 0, expiresAtMs: clock.nowMs() + 1}]);
	expiry.stop();
	clock.advance(1);
	t.deepEqual(expired, ['ci']);
});

test('a change that comes before the timer does not swallow an expiry', t => {
	const {clock, expired} = followed();
	let atMs = 0;
	const expiry = followExpiry({nowMs: () => atMs, after: clock.after}, name => expired.push(name));
	expiry.follow([{name: 'ci', role: 'edit', createdAtMs: 0, expiresAtMs: 10}]);
	atMs = 10;
	expiry.follow([]);
	t.deepEqual(expired, ['ci']);
});
