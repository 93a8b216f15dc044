import test, {type ExecutionContext} from 'ava';
import {hub} from '../../../agent/docker/images/docker-hub.js';
import {createImages, type Images} from '../../../agent/docker/images/images.js';
import {createSessions} from '../../../agent/exec-sessions.js';
import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {EnsuredImage, RuntimeCommand, RuntimeEvent} from '../../../actors/node/runtime/runtime-port.js';
import {noSecrets, type NodeSecrets, type SecretData} from '../../../actors/node/runtime/secrets-port.js';
import {systemClock} from '../../../system/time/clock.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {createDeferred} from '../../../system/time/deferred.js';
import {idOf, open, startFakeEngine, tell, type FakeEngine, type FakePull} from './_fake-engine.js';

type Ensure = Extract<RuntimeCommand, {type: 'image.ensure'}>;

const ensureOf = (image: string, change: Partial<Ensure> = {}): Ensure => ({
	type: 'image.ensure',
	id: {uid: 'u-1', container: 'main'},
	namespace: 'default',
	podName: 'web',
	image,
	policy: 'IfNotPresent',
	secrets: [],
	...change,
});

const ask = (images: Images, command: Ensure): Promise<Outcome<EnsuredImage>> =>
	new Promise(resolve => images.handlers['image.ensure'](command, resolve));

function imagesOf(t: ExecutionContext, {engine, directory}: FakeEngine, secrets: NodeSecrets = noSecrets, clock = systemClock) {
	const news: (RuntimeEvent & {type: 'pulling'})[] = [];
	const warnings: string[] = [];
	const images = createImages({
		engine,
		clock,
		secrets,
		directory,
		onEvent: event => news.push(event),
		onWarning: message => warnings.push(message),
		sessions: createSessions(systemClock),
		engineProblem: () => undefined,
	});
	t.teardown(() => images.close());
	return {images, news, warnings};
}

/** The registry has it for everybody. */
function offer(fake: FakeEngine, name: string, pull: FakePull = open): string {
	fake.offers.set(name, {image: {id: idOf(name), bytes: 1_234}, pull});
	return idOf(name);
}

const secretsOf = (all: {readonly [name: string]: SecretData}): NodeSecrets => ({
	...noSecrets,
	open: ({name}, done) =>
		done(all[name] === undefined ? failed('ERR_CONFIG_MISSING', {message: `secret "${name}" not found`}) : succeeded(all[name])),
});

const refTo = (secret: string) => ({secret, version: '1', optional: true});

const dockerConfig = (place: string, username: string, password: string): SecretData => ({
	'.dockerconfigjson': Buffer.from(JSON.stringify({auths: {[place]: {username, password}}})).toString('base64'),
});

test('an image that is there is not pulled, unless its policy says so', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const {images, news} = imagesOf(t, fake);
	const name = `${hub}/library/nginx:1`;
	fake.images.set(name, {id: 'sha256:old', bytes: 7});
	for (const policy of ['IfNotPresent', 'Never'] as const)
		t.deepEqual(await ask(images, ensureOf('nginx:1', {policy})), succeeded({imageId: 'sha256:old'}));
	t.deepEqual(news, []);
	t.deepEqual(fake.asked, [`GET /images/${name}/json`, `GET /images/${name}/json`]);
	const id = offer(fake, name);
	const outcome = await ask(images, ensureOf('nginx:1', {policy: 'Always'}));
	t.true(outcome.ok && outcome.value.imageId === id && outcome.value.pulled?.bytes === 1_234);
	t.is(fake.asked[2], `POST /images/create ${name}`);
});

test('an image that is not there is pulled, and how far that is comes meanwhile', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const {images, news} = imagesOf(t, fake);
	const id = offer(fake, `${hub}/library/nginx:latest`);
	const outcome = await ask(images, ensureOf('nginx'));
	t.true(outcome.ok && outcome.value.imageId === id);
	t.like(news[0], {type: 'pulling', id: {uid: 'u-1', container: 'main'}, podName: 'web', bytes: 0, percent: undefined});
});

test('an image of a digest is asked for by it', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const digest = `sha256:${'12'.repeat(32)}`;
	const id = offer(fake, `r.local/app@${digest}`);
	const outcome = await ask(imagesOf(t, fake).images, ensureOf(`r.local/app:3@${digest}`));
	t.true(outcome.ok && outcome.value.imageId === id);
});

test('what cannot be had says why, in the words of the registry', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const {images} = imagesOf(t, fake);
	const code = async (image: string, change: Partial<Ensure> = {}): Promise<unknown> => {
		const outcome = await ask(images, ensureOf(image, change));
		return outcome.ok ? undefined : [outcome.error.code, outcome.error.message];
	};
	t.deepEqual(await code('nginx', {policy: 'Never'}), [
		'ERR_IMAGE_ABSENT',
		'image "nginx" is not on this node, and imagePullPolicy is Never: load it, or set another policy',
	]);
	t.like(await code('Nginx'), ['ERR_IMAGE_NAME']);
	t.deepEqual(await code('nginx:9'), [
		'ERR_IMAGE_PULL',
		`cannot pull image "nginx:9": manifest for ${hub}/library/nginx:9 not found: manifest unknown: manifest unknown`,
	]);
	offer(fake, 'r.local/late:1', answer => {
		tell(answer, {status: 'Pulling fs layer', id: 'aaaa'});
		return Promise.resolve('toomanyrequests: slow\n\u001b[31mdown');
	});
	t.deepEqual(await code('r.local/late:1'), ['ERR_IMAGE_PULL', 'cannot pull image "r.local/late:1": toomanyrequests: slow [31mdown']);
	offer(fake, 'r.local/long:1', () => Promise.resolve('x'.repeat(1_000_000)));
	const [, words] = (await code('r.local/long:1')) as [string, string];
	t.true(words.length < 2 * limits.imageWordsCharacters);
});

test('an Engine that does not answer is told of as such', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const outcome = await ask(
		imagesOf(t, {
			...fake,
			engine: {call: () => Promise.reject(new Error('connect ENOENT')), open: () => Promise.reject(new Error('connect ENOENT'))},
		}).images,
		ensureOf('nginx'),
	);
	t.like(outcome, {ok: false, error: {code: 'ERR_RUNTIME'}});
});

test('logins of imagePullSecrets are tried one after the other, and are in no words', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const tried: (string | undefined)[] = [];
	const id = offer(fake, 'r.local/app:1', (answer, login) => {
		tried.push(login?.username);
		if (login?.password === 'right') return open(answer, login);
		return Promise.resolve(`unauthorized: ${login?.username} with ${login?.password} is not let in`);
	});
	const secrets = secretsOf({
		wrong: dockerConfig('r.local', 'first', 'hush-hush'),
		right: dockerConfig('r.local', 'second', 'right'),
		other: dockerConfig('x.local', 'third', 'right'),
	});
	const {images} = imagesOf(t, fake, secrets);
	const both = await ask(images, ensureOf('r.local/app:1', {secrets: ['other', 'wrong', 'gone', 'right'].map(refTo)}));
	t.true(both.ok);
	t.like(both, {value: {imageId: id, missingSecrets: ['gone']}});
	t.deepEqual(tried, ['first', 'second']);
	fake.images.clear();
	const refused = await ask(images, ensureOf('r.local/app:1', {secrets: [refTo('wrong'), refTo('gone')]}));
	t.like(refused, {
		error: {
			code: 'ERR_IMAGE_PULL',
			message: 'cannot pull image "r.local/app:1": unauthorized: first with … is not let in',
			details: {missingSecrets: ['gone']},
		},
	});
	t.false(JSON.stringify(refused).includes('hush'));
	await ask(images, ensureOf('r.local/app:1', {secrets: [refTo('other')]}));
	t.is(tried.at(-1), undefined);
});

test('a Secret that control cannot be asked for is no pull', async t => {
	const fake = await startFakeEngine(t, systemClock);
	offer(fake, 'r.local/app:1');
	const outcome = await ask(imagesOf(t, fake).images, ensureOf('r.local/app:1', {secrets: [refTo('any')]}));
	t.like(outcome, {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
	t.deepEqual(fake.asked, ['GET /images/r.local/app:1/json']);
});

/** A registry that answers when it is told to. */
function gate(fake: FakeEngine, name: string) {
	const begun = createDeferred();
	const may = createDeferred();
	let count = 0;
	offer(fake, name, async (answer, login) => {
		count += 1;
		begun.resolve();
		tell(answer, {status: 'Downloading', id: 'aaaa', progressDetail: {current: 1, total: 4}});
		await may.promise;
		return open(answer, login);
	});
	return {begun: begun.promise, finish: () => may.resolve(), count: () => count};
}

test('one pull serves all that ask for the image with the same logins, and only those', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const {images, news} = imagesOf(t, fake, secretsOf({own: dockerConfig('r.local', 'anna', 'x')}));
	const held = gate(fake, 'r.local/app:1');
	const without = Array.from({length: 20}, (_, i) =>
		ask(images, ensureOf('r.local/app:1', {id: {uid: `u-${i}`, container: 'main'}, policy: i % 2 === 0 ? 'Always' : 'IfNotPresent'})),
	);
	const own = ask(images, ensureOf('r.local/app:1', {secrets: [refTo('own')]}));
	await held.begun;
	held.finish();
	const outcomes = await Promise.all([...without, own]);
	t.true(outcomes.every(({ok}) => ok));
	t.is(held.count(), 2);
	// Each hears of it.
	t.is(new Set(news.map(({id}) => id.uid)).size, 20);
});

test('only so many pulls are under way; the rest wait for their turn', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const {images} = imagesOf(t, fake);
	const gates = Array.from({length: limits.imagePulls + 3}, (_, i) => gate(fake, `r.local/app:${i}`));
	const outcomes = gates.map((_, i) => ask(images, ensureOf(`r.local/app:${i}`, {policy: 'Always'})));
	const pulls = (): number => gates.reduce((sum, {count}) => sum + count(), 0);
	await Promise.all(gates.slice(0, limits.imagePulls).map(({begun}) => begun));
	t.is(pulls(), limits.imagePulls);
	gates[0]?.finish();
	await gates[limits.imagePulls]?.begun;
	t.is(pulls(), limits.imagePulls + 1);
	for (const {finish} of gates) finish();
	t.true((await Promise.all(outcomes)).every(({ok}) => ok));
});

test('a pull of which nothing is heard is ended, and what is asked for next begins anew', async t => {
	const clock = new ManualClock();
	const fake = await startFakeEngine(t, clock);
	const {images} = imagesOf(t, fake, noSecrets, clock);
	const closed = createDeferred();
	const begun = createDeferred();
	offer(fake, 'r.local/app:1', async answer => {
		answer.once('close', () => closed.resolve());
		tell(answer, {status: 'Pulling fs layer', id: 'aaaa'});
		begun.resolve();
		return new Promise(() => undefined);
	});
	const outcome = ask(images, ensureOf('r.local/app:1', {policy: 'Always'}));
	await begun.promise;
	// The line is on its way through the socket: its arrival starts the wait anew.
	const timer = setInterval(() => clock.advance(limits.imageStallMs), 5);
	t.teardown(() => clearInterval(timer));
	const ended = await outcome;
	t.like(ended, {ok: false, error: {code: 'ERR_IMAGE_PULL'}});
	t.regex(JSON.stringify(ended), /nothing was heard of the pull for 120 s/);
	await closed.promise;
	offer(fake, 'r.local/app:1');
	clearInterval(timer);
	t.true((await ask(images, ensureOf('r.local/app:1', {policy: 'Always'}))).ok);
});

test('an agent that stops ends its pulls, also those that wait', async t => {
	const fake = await startFakeEngine(t, systemClock);
	const {images} = imagesOf(t, fake);
	const gates = Array.from({length: limits.imagePulls + 2}, (_, i) => gate(fake, `r.local/app:${i}`));
	const outcomes = gates.map((_, i) => ask(images, ensureOf(`r.local/app:${i}`, {policy: 'Always'})));
	await Promise.all(gates.slice(0, limits.imagePulls).map(({begun}) => begun));
	const isClosed = images.close();
	for (const outcome of await Promise.all(outcomes)) t.like(outcome, {ok: false, error: {code: 'ERR_IMAGE_PULL'}});
	t.like(await ask(images, ensureOf('r.local/app:0', {policy: 'Always'})), {ok: false});
	await isClosed;
});
