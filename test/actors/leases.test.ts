import test from 'ava';
import {limits} from '../../api/limits.js';
import {playContext, playFrom, type Played} from '../../system/kernel/play.js';
import {address} from '../../api/keys.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {leases, type LeasesMessage, type LeasesState} from '../../actors/node/pods/leases.js';

const nowMs = 1_700_000_000_000;
const startMs = 1_000;
const ttlMs = limits.podLeaseTtlMs;

/** The actor at a moment of its own clock. */
const at = (state: LeasesState, monotonicMs: number, ...messages: readonly LeasesMessage[]): Played<LeasesState> =>
	playFrom(leases, state, messages, playContext({nowMs: nowMs + monotonicMs, monotonicMs, self: address('node-a', 'leases')}));

const empty = leases.init({node: 'node-a'}, playContext({monotonicMs: 0})).state;
const want = {type: 'wantLease', key: 'pods/default/one', uid: 'u1', owner: 'troupe://node-a/pods/default.one'} as const;
const confirm = (number: number, ...uids: string[]): LeasesMessage => ({type: 'leasesRenewed', number, uids});
const watchdogSet = (number: number, isSet = true): LeasesMessage => ({
	type: 'watchdogSet',
	id: `u1/lease/${number}`,
	outcome: isSet ? {ok: true, value: null} : {ok: false, error: {code: 'ERR_RUNTIME', message: 'no', details: {}}},
});

const told = (effects: readonly Effect[]): readonly string[] =>
	effects.flatMap(effect => (effect.type === 'tell' ? [effect.message.type] : []));
const extended = (effects: readonly Effect[]): readonly number[] =>
	effects.flatMap(effect => (effect.type === 'perform' ? [(effect.command as {type: string; untilMs: number}).untilMs] : []));

/** Wanted at `startMs`, confirmed and guarded at once. */
const heldState = (): LeasesState => at(empty, startMs, want, confirm(1, 'u1'), watchdogSet(1)).state;

test('a lease is asked for at once and again and again', t => {
	const {effects} = at(empty, startMs, want);
	t.deepEqual(told(effects), ['renewLeases']);
	t.deepEqual(effects[1], {type: 'wakeAt', name: 'renew', atMs: nowMs + startMs + limits.podLeaseRenewMs, message: {type: 'renew'}});
});

test('it lasts from when the renewal was sent, not from when it was confirmed', t => {
	const {effects} = at(at(empty, startMs, want).state, startMs + 4_000, confirm(1, 'u1'));
	t.deepEqual(extended(effects), [startMs + ttlMs]);
});

test('it counts as held only once its watchdog stands', t => {
	const confirmed = at(empty, startMs, want, confirm(1, 'u1'));
	t.deepEqual(told(confirmed.effects), []);
	t.deepEqual(told(at(confirmed.state, startMs, watchdogSet(1)).effects), ['leaseHeld']);
	t.deepEqual(told(at(confirmed.state, startMs, watchdogSet(1, false)).effects), []);
	t.deepEqual(told(at(confirmed.state, startMs + ttlMs, watchdogSet(1)).effects), [], 'the watchdog stood too late');
});

test('a confirmation that took as long as the lease is worth nothing', t => {
	t.deepEqual(extended(at(at(empty, startMs, want).state, startMs + ttlMs, confirm(1, 'u1')).effects), []);
});

test('what control does not name is not extended, and ends', t => {
	const renewed = at(heldState(), startMs + 3_000, {type: 'renew'}, confirm(2));
	t.deepEqual(extended(renewed.effects), []);
	const early = at(renewed.state, startMs + ttlMs - 1, {type: 'leaseEnds', uid: 'u1'});
	t.deepEqual(told(early.effects), [], 'a timer that is early is set again');
	t.deepEqual(told(at(early.state, startMs + ttlMs, {type: 'leaseEnds', uid: 'u1'}).effects), ['leaseLost']);
});

test('a renewal moves the end on, and the hand hears of it only when it was lost meanwhile', t => {
	const renewed = at(heldState(), startMs + 3_000, {type: 'renew'}, confirm(2, 'u1'), watchdogSet(2));
	t.deepEqual(told(renewed.effects), []);
	const atOldEnd = at(renewed.state, startMs + ttlMs, {type: 'leaseEnds', uid: 'u1'});
	t.deepEqual(told(atOldEnd.effects), []);
	const lost = at(atOldEnd.state, startMs + 3_000 + ttlMs, {type: 'leaseEnds', uid: 'u1'});
	t.deepEqual(told(lost.effects), ['leaseLost']);
	const again = at(lost.state, startMs + 20_000, {type: 'renew'}, confirm(3, 'u1'), watchdogSet(3));
	t.deepEqual(told(again.effects), ['leaseHeld']);
});

test('a late confirmation of an older renewal never moves the end back', t => {
	const two = at(heldState(), startMs + 3_000, {type: 'renew'}, {type: 'renew'});
	const newer = at(two.state, startMs + 3_100, confirm(3, 'u1'), watchdogSet(3));
	t.deepEqual(extended(at(newer.state, startMs + 3_200, confirm(2, 'u1')).effects), []);
});

test('the answer of an earlier watchdog says nothing about a later one that is being set', t => {
	const second = at(heldState(), startMs + 3_000, {type: 'renew'}, confirm(2, 'u1'));
	const third = at(second.state, startMs + 6_000, {type: 'renew'}, confirm(3, 'u1'), watchdogSet(2), watchdogSet(3, false));
	t.deepEqual(told(at(third.state, startMs + ttlMs, {type: 'leaseEnds', uid: 'u1'}).effects), ['leaseLost']);
});

test('after a crash no answer to an earlier renewal counts', t => {
	const begun = leases.init({node: 'node-a'}, playContext({monotonicMs: startMs + 1_000})).state;
	t.deepEqual(extended(at(begun, startMs + 1_000, want, confirm(1, 'u1')).effects), []);
});

test('a hand that started again is told at once that its lease is held', t => {
	t.deepEqual(told(at(heldState(), startMs + 1_000, want).effects), ['leaseHeld']);
});

test('without a pod that wants one nothing is renewed', t => {
	const none = at(heldState(), startMs + 1_000, {type: 'unwantLease', uid: 'u1'});
	t.deepEqual(told(at(none.state, startMs + 3_000, {type: 'renew'}).effects), []);
});
