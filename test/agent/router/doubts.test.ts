// Requests to endpoints that get no new ones: those of a host that is not there are given up, all others wait on.

import {setImmediate as turn} from 'node:timers/promises';
import test from 'ava';
import {createDoubts} from '../../../agent/network/router/doubts.js';
import type {Endpoint} from '../../../agent/network/router/endpoints.js';
import {limits} from '../../../api/limits.js';
import {ManualClock} from '../../../system/time/manual-clock.js';

const backend = {namespace: 'default', service: 'web', port: 80, weight: 1, matches: undefined};
const endpoint: Endpoint = {address: '10.244.1.2', port: 8_000};
const other: Endpoint = {address: '10.244.1.3', port: 8_000};

function world() {
	const clock = new ManualClock();
	const used = new Set([endpoint, other]);
	const there = new Set([endpoint, other]);
	let tries = 0;
	let change = (): void => undefined;
	const doubts = createDoubts({isUsed: (_backend, each) => used.has(each), onChange: listener => void (change = listener)}, clock, each => {
		tries += 1;
		return Promise.resolve(there.has(each));
	});
	const lost: string[] = [];
	return {
		clock,
		used,
		there,
		lost,
		tries: () => tries,
		waitFor: (each: Endpoint, name: string) => doubts.waitFor(backend, each, () => void lost.push(name)),
		change: async () => {
			change();
			await turn();
		},
	};
}

test('an endpoint that is used is not doubted', async t => {
	const {waitFor, change, lost, tries} = world();
	waitFor(endpoint, 'a');
	await change();
	t.deepEqual([lost, tries()], [[], 0]);
});

test('all that wait for an endpoint of a host that is gone are told, once; what waits for others is not', async t => {
	const {waitFor, change, used, there, lost, tries} = world();
	waitFor(endpoint, 'a');
	waitFor(endpoint, 'b')();
	waitFor(endpoint, 'c');
	waitFor(other, 'd');
	used.delete(endpoint);
	there.delete(endpoint);
	await change();
	await change();
	t.deepEqual(lost, ['a', 'c']);
	t.is(tries(), 1);
});

test('an endpoint that agents relay to is not tried from here', async t => {
	const {waitFor, change, lost, tries} = world();
	waitFor({address: '10.244.9.9', port: 8_000, via: 'far'}, 'a');
	await change();
	t.deepEqual([lost, tries()], [[], 0]);
});

test('a host that answers is asked again as long as somebody waits and the endpoint is not used', async t => {
	const {waitFor, change, used, there, lost, tries, clock} = world();
	waitFor(endpoint, 'a');
	used.delete(endpoint);
	await change();
	t.deepEqual([lost, tries()], [[], 1]);
	there.delete(endpoint);
	clock.advance(limits.routerConnectMs);
	await turn();
	t.deepEqual(lost, ['a']);

	there.add(endpoint);
	const over = waitFor(endpoint, 'b');
	await change();
	t.is(tries(), 3);
	over();
	clock.advance(limits.routerConnectMs);
	await turn();
	t.is(tries(), 3, 'nobody waits any more');

	waitFor(endpoint, 'c');
	await change();
	used.add(endpoint);
	there.delete(endpoint);
	clock.advance(limits.routerConnectMs);
	await turn();
	t.deepEqual(lost, ['a'], 'it is used again');
});
