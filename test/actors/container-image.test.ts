// A container of a class that has images has its image there before it starts.

import test from 'ava';
import {failed, type Outcome} from '../../api/errors.js';
import {container} from '../../actors/node/containers/container.js';
import type {ContainerActorState, ContainerChanged, ContainerMessage} from '../../actors/node/containers/container-state.js';
import type {EnsuredImage} from '../../actors/node/runtime/runtime-port.js';
import {secretKey} from '../../actors/config-references.js';
import type {Effect} from '../../system/kernel/behavior.js';
import {play, playContext, receivedBy, type Played} from '../../system/kernel/play.js';
import {anAssignment, aRunningContainer, anExit, sandbox} from './_agent.js';
import {cacheOf} from './_config.js';
import {aContainer, nowMs} from './_objects.js';

const image = 'images.local/team/app:1';
const input = {
	assignment: anAssignment({
		spec: {runtimeClassName: 'docker', imagePullSecrets: [{name: 'login'}, {name: 'gone'}]},
	}),
	container: {...aContainer(), image, imagePullPolicy: 'Always' as const},
	role: 'main' as const,
	held: false,
	stopGraceMs: undefined,
	sandboxes: 0,
	sandbox,
	owner: 'troupe://node-a/pods/default.web',
};
const context = playContext({nowMs, known: cacheOf({[secretKey('default', 'login')]: {type: 'secret'}})});

const inspected: ContainerMessage = {
	type: 'inspected',
	id: 'uid-of-web/main/inspect',
	outcome: {ok: true, value: {running: undefined, lastExit: undefined, nextAttempt: 0}},
};
const ensured = (outcome: Outcome<EnsuredImage>, attempt = 0): ContainerMessage => ({
	type: 'imageEnsured',
	id: `uid-of-web/main/image/${attempt}`,
	outcome,
});
const there = (value: Partial<EnsuredImage> = {}): ContainerMessage => ensured({ok: true, value: {imageId: 'sha256:1', ...value}});
const refusal = failed('ERR_IMAGE_PULL', {message: `cannot pull image "${image}": unauthorized`, missingSecrets: ['gone', 'other']});
const pulling = (percent?: number, bytes?: number, totalBytes?: number): ContainerMessage => ({
	type: 'pulling',
	percent,
	bytes,
	totalBytes,
});

const run = (...messages: readonly ContainerMessage[]): Played<ContainerActorState> =>
	play(container, input, [inspected, ...messages], context);
const commandsOf = (effects: readonly Effect[]): object[] => effects.flatMap(effect => (effect.type === 'perform' ? [effect.command] : []));
const told = (effects: readonly Effect[]): ContainerChanged | undefined =>
	effects.flatMap(effect => (effect.type === 'tell' && effect.to === input.owner ? [effect.message as ContainerChanged] : [])).at(-1);
const reasons = (effects: readonly Effect[]) => told(effects)?.events.map(({reason}) => reason);

test('the image is asked for before the start, with its policy and the Secrets that are there', t => {
	const {effects} = run();
	t.deepEqual(commandsOf(effects), [
		{
			type: 'image.ensure',
			id: {uid: 'uid-of-web', container: 'main'},
			namespace: 'default',
			podName: 'web',
			image,
			policy: 'Always',
			secrets: [{secret: 'login', version: 'v1', optional: true}],
		},
	]);
	t.is(told(effects), undefined);
});

test('the start has the image that was found', t => {
	const {effects} = run(there());
	t.like(commandsOf(effects), [{type: 'container.start', spec: {attempt: 0, image, imageId: 'sha256:1'}}]);
	t.deepEqual(reasons(effects), ['Pulled']);
	t.is(told(effects)?.events[0]?.message, `image "${image}" is on the node already`);
});

test('a pull is told of: that it began, each per cent, and how long it took', t => {
	const begun = run(pulling());
	t.deepEqual(reasons(begun.effects), ['Pulling']);
	t.like(told(begun.effects)?.status, {state: {waiting: {reason: 'Pulling', message: 'asking the registry'}}});
	const half = run(pulling(), pulling(43, 12_000_000, 28_000_000));
	t.deepEqual(reasons(half.effects), []);
	t.like(told(half.effects)?.status, {state: {waiting: {reason: 'Pulling', message: '43 %, 12 of 28 MB'}}});
	t.deepEqual(run(pulling(), pulling(43, 1, 2), pulling(43, 2, 3)).effects, [], 'the same per cent says nothing new');
	const unpacking = run(pulling(), pulling(100, 1_500_000, 1_500_000));
	t.is(told(unpacking.effects)?.status.state?.waiting?.message, '100 %, unpacking 1.5 MB');
	const done = run(pulling(), there({pulled: {bytes: 12_300_000, ms: 3_140}, missingSecrets: ['other']}));
	t.deepEqual(
		told(done.effects)?.events.map(({event, reason, message}) => [event, reason, message]),
		[
			[
				'Warning',
				'FailedToRetrieveImagePullSecret',
				'some image pull secrets are not there (gone, other): the image may not be had without',
			],
			['Normal', 'Pulled', `pulled image "${image}" in 3.1 s, 12 MB`],
		],
	);
	t.deepEqual(run(there(), pulling(50, 1, 2)).effects, [], 'what comes late changes nothing');
});

test('a pull that fails is tried again after the back-off, in the words of the registry', t => {
	const first = run(ensured(refusal));
	t.like(told(first.effects)?.status.state?.waiting, {
		reason: 'ErrImagePull',
		message: `cannot pull image "${image}": unauthorized`,
		retry: 1,
	});
	t.deepEqual(reasons(first.effects), ['FailedToRetrieveImagePullSecret', 'Failed']);
	const asked = receivedBy(container, first.state, {type: 'retry'}, context);
	t.like(commandsOf(asked.effects), [{type: 'image.ensure'}]);
	const second = receivedBy(container, asked.state, ensured(refusal), context);
	t.like(told(second.effects)?.status.state?.waiting, {
		reason: 'ImagePullBackOff',
		message: `back-off: cannot pull image "${image}": unauthorized`,
	});
	t.deepEqual(reasons(second.effects), ['FailedToRetrieveImagePullSecret', 'Failed', 'BackOff']);
	const delays = [first, second].map(({effects}) => effects.flatMap(effect => (effect.type === 'wakeAt' ? [effect.atMs - nowMs] : []))[0]);
	t.true(delays[0] !== undefined && delays[1] !== undefined && delays[0] > 0 && delays[1] > delays[0], `${delays.join()}`);
	// A Secret that came may be the way.
	t.like(commandsOf(receivedBy(container, second.state, {type: 'configChanged'}, context).effects), [{type: 'image.ensure'}]);
	// Once it was there, the next failure is a first one.
	const again = receivedBy(container, second.state, {type: 'retry'}, context);
	const got = receivedBy(container, again.state, there(), context);
	t.is(got.state.pullFailures, 0);
});

const failures: readonly (readonly [Outcome<EnsuredImage>, string, boolean])[] = [
	[failed('ERR_IMAGE_ABSENT', {image}), 'ErrImageNeverPull', true],
	[failed('ERR_IMAGE_NAME', {image, message: 'x'}), 'InvalidImageName', false],
	[failed('ERR_RUNTIME', {message: 'the Engine does not answer'}), 'ImageInspectError', true],
	[failed('ERR_NOT_REACHABLE', {message: 'secret "login" cannot be fetched'}), 'CreateContainerConfigError', true],
	[failed('ERR_TIMEOUT', {address: 'edge:image.ensure', deadlineMs: 1}), 'ErrImagePull', true],
];
for (const [outcome, reason, isRetried] of failures) {
	test(`what else can go wrong has a word of its own: ${reason}`, t => {
		const {effects} = run(ensured(outcome));
		t.is(told(effects)?.status.state?.waiting?.reason, reason);
		t.is(
			effects.some(({type}) => type === 'wakeAt'),
			isRetried,
		);
	});
}

test('each attempt asks anew; answers to earlier ones are nothing', t => {
	const running: ContainerMessage = {type: 'started', id: 'uid-of-web/main/start/0', outcome: {ok: true, value: aRunningContainer()}};
	const next = run(there(), running, {type: 'exited', exit: anExit()});
	t.like(commandsOf(next.effects), [{type: 'image.ensure'}]);
	t.deepEqual(receivedBy(container, next.state, there(), context).effects, []);
	const now = receivedBy(container, next.state, ensured({ok: true, value: {imageId: 'sha256:2'}}, 1), context);
	t.like(commandsOf(now.effects), [{type: 'container.start', spec: {attempt: 1, imageId: 'sha256:2'}}]);
});

test('a container that is to end while its image is pulled is stopped, and never started', t => {
	const stopping = run(pulling(), {type: 'stopContainer', graceMs: 30_000});
	t.like(commandsOf(stopping.effects), [{type: 'container.stop'}]);
	t.deepEqual(receivedBy(container, stopping.state, there(), context).effects, []);
});

test('to a pod of processes images are only names', t => {
	const {effects} = play(container, {...input, assignment: anAssignment()}, [inspected], context);
	t.like(commandsOf(effects), [{type: 'container.start', spec: {imageId: undefined}}]);
});
