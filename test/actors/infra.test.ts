// A sandbox is made before containers and removed after them, each tried until it works.

import test from 'ava';
import {failed} from '../../api/errors.js';
import {infra, type InfraInput, type InfraMessage, type InfraState} from '../../actors/node/pods/infra.js';
import {sandboxSpecOf} from '../../actors/node/pods/sandbox-spec.js';
import {play, type Played} from '../../system/kernel/play.js';
import {nowMs} from './_objects.js';
import {anAssignment, sandbox} from './_agent.js';

const owner = 'troupe://node-a/pods/default.web';
const input: InfraInput = {spec: sandboxSpecOf(anAssignment({uid: 'u'})), owner};
const ensured: InfraMessage = {type: 'ensured', id: 'u/sandbox/ensure', outcome: {ok: true, value: sandbox}};
const removed: InfraMessage = {type: 'removed', id: 'u/sandbox/remove', outcome: {ok: true, value: null}};
const error = failed('ERR_RUNTIME', {message: 'no address left'});
const notEnsured: InfraMessage = {type: 'ensured', id: 'u/sandbox/ensure', outcome: error};
const notRemoved: InfraMessage = {type: 'removed', id: 'u/sandbox/remove', outcome: error};
const run = (...messages: readonly InfraMessage[]): Played<InfraState> => play(infra, input, messages);

test('it is asked for at once, and told when it is there', t => {
	t.like(run().effects, [
		{type: 'cancelWake', name: 'retry'},
		{type: 'perform', key: 'u/sandbox/ensure', as: 'ensured', command: {type: 'sandbox.ensure', spec: input.spec}},
	]);
	t.deepEqual(run(ensured).effects, [{type: 'tell', to: owner, message: {type: 'sandboxReady', sandbox}} as never]);
});

test('what fails is tried again after 100 ms, doubling up to five minutes', t => {
	const waits = Array.from({length: 14}, (_, round) => {
		const messages = Array.from({length: round}, (): InfraMessage[] => [notEnsured, {type: 'retry'}]).flat();
		const [timer] = run(...messages, notEnsured).effects;
		return timer?.type === 'wakeAt' ? timer.atMs - nowMs : -1;
	});
	t.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 102_400, 204_800, 300_000, 300_000]);
});

test('a removal ends the tries to make it, and begins its own', t => {
	const {effects} = run(notEnsured, notEnsured, {type: 'removeSandbox'});
	t.like(effects, [
		{type: 'cancelWake', name: 'retry'},
		{type: 'perform', key: 'u/sandbox/remove', command: {type: 'sandbox.remove', uid: 'u'}},
	]);
	t.like(run({type: 'removeSandbox'}, notRemoved).effects, [
		{type: 'wakeAt', atMs: nowMs + 100},
		{type: 'tell', message: {type: 'sandboxFailed'}},
	]);
	t.like(run({type: 'removeSandbox'}, notRemoved, {type: 'retry'}).effects[1], {command: {type: 'sandbox.remove'}});
});

test('a sandbox that is made too late is no news', t => {
	t.deepEqual(run({type: 'removeSandbox'}, ensured).effects, []);
	t.deepEqual(run({type: 'removeSandbox'}, removed).effects, [{type: 'tell', to: owner, message: {type: 'sandboxRemoved'}}]);
});
