// Images of a real Engine, from a real registry behind a password.

import {randomBytes} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openEngine} from '../../agent/docker/engine/engine.js';
import {collectGarbage} from '../../agent/docker/images/garbage.js';
import {createImages} from '../../agent/docker/images/images.js';
import {createRemembered} from '../../agent/docker/images/remembered.js';
import {createSessions} from '../../agent/exec-sessions.js';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {limits} from '../../api/limits.js';
import type {EnsuredImage, ListedImage, RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import {noSecrets, type NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {startDockerd, type Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {startDockerRegistry, type DockerRegistry} from '../../bench/rigs/servers/registry-server.js';
import {systemClock} from '../../system/time/clock.js';

const app = 'team/app:1';
let world: {readonly dockerd: Dockerd; readonly registry: DockerRegistry} | undefined;
const releases: (() => void | Promise<void>)[] = [];

test.before('dockerd and a registry start, and have an image', async t => {
	const owner = {teardown: (release: () => void | Promise<void>) => void releases.unshift(release)};
	const started = await startDockerd(owner);
	world = {dockerd: started, registry: await startDockerRegistry(owner, started)};
	await started.docker('build', '-t', 'app', '-q', await contextOf(owner));
	await registry().push('app', app);
	t.regex(await started.docker('version'), /Server:/);
});
test.after.always('both end, and nothing of them is left', async t => {
	for (const release of releases) await release();
	t.false(existsSync(world?.dockerd.folder ?? ''));
});

function started(): NonNullable<typeof world> {
	if (world === undefined) throw new Error('they are started before the first test');
	return world;
}
const registry = (): DockerRegistry => started().registry;
const dockerd = (): Dockerd => started().dockerd;

/** Some megabytes that do not get smaller. */
async function contextOf(owner: Owner): Promise<string> {
	const folder = await mkdtemp(path.join(tmpdir(), 'context-'));
	owner.teardown(() => rm(folder, {recursive: true, force: true}));
	await writeFile(path.join(folder, 'large'), randomBytes(8_000_000));
	await writeFile(path.join(folder, 'Dockerfile'), 'FROM busybox\nCOPY large /large\n');
	return folder;
}

/** What the pull Secrets of these tests hold: a good login, and one with another password. */
const secretsOf = ({host, username, password}: DockerRegistry): NodeSecrets => ({
	...noSecrets,
	open({name}, done) {
		const auth = Buffer.from(`${username}:${name === 'good' ? password : 'hush-hush'}`).toString('base64');
		const config = Buffer.from(JSON.stringify({auths: {[host]: {auth}}})).toString('base64');
		if (name === 'gone') done(failed('ERR_CONFIG_MISSING', {message: 'not there'}));
		else done(succeeded({'.dockerconfigjson': config}));
	},
});

async function open(t: ExecutionContext) {
	const directory = await mkdtemp(path.join(tmpdir(), 'images-'));
	const engine = openEngine({socketPath: dockerd().socketPath}, systemClock);
	const percents: (number | undefined)[] = [];
	const warnings: string[] = [];
	const images = createImages({
		engine,
		clock: systemClock,
		secrets: secretsOf(registry()),
		directory,
		onEvent: ({percent}) => percents.push(percent),
		onWarning: message => warnings.push(message),
		sessions: createSessions(systemClock),
		engineProblem: () => undefined,
	});
	t.teardown(async () => {
		await images.close();
		await rm(directory, {recursive: true, force: true});
	});
	const ensure = (image: string, secrets: readonly string[] = ['good'], policy: 'Always' | 'IfNotPresent' | 'Never' = 'IfNotPresent') =>
		new Promise<Outcome<EnsuredImage>>(resolve =>
			images.handlers['image.ensure'](
				{
					type: 'image.ensure',
					id: {uid: 'u', container: 'main'},
					namespace: 'default',
					podName: 'web',
					image,
					policy,
					secrets: secrets.map(secret => ({secret, version: '1', optional: true})),
				} satisfies RuntimeCommand,
				resolve,
			),
		);
	const list = () =>
		new Promise<readonly ListedImage[]>((resolve, reject) =>
			images.handlers['image.list']({type: 'image.list'}, outcome =>
				outcome.ok ? resolve(outcome.value.images) : reject(new Error(outcome.error.message)),
			),
		);
	return {ensure, list, directory, engine, percents, warnings};
}

/** The Engine has nothing of the registry. */
async function forget(): Promise<void> {
	const {docker} = dockerd();
	const ids = (await docker('image', 'ls', '-aq', '--no-trunc')).split('\n').filter(Boolean);
	const format = '{{join .RepoTags "\\n"}}\\n{{join .RepoDigests "\\n"}}';
	const names = await Promise.all([...new Set(ids)].map(id => docker('image', 'inspect', '-f', format, id)));
	for (const name of names
		.join('\n')
		.split('\n')
		.filter(each => each.startsWith(registry().host)))
		await docker('rmi', name).catch((error: unknown) => {
			// The last tag takes the digests with it.
			if (!String(error).includes('No such image')) throw error;
		});
}

const idOf = (outcome: Outcome<EnsuredImage>): string =>
	outcome.ok ? (outcome.value.imageId ?? '') : `no image: ${outcome.error.message}`;

test.serial('a private image is pulled with the login of a Secret, and without it the registry says why not', async t => {
	await forget();
	const {ensure, list, percents} = await open(t);
	const image = `${registry().host}/${app}`;
	const without = await ensure(image, []);
	t.like(without, {ok: false, error: {code: 'ERR_IMAGE_PULL'}});
	t.regex(JSON.stringify(without), /no basic auth credentials/);
	const wrong = await ensure(image, ['wrong', 'gone']);
	t.like(wrong, {ok: false, error: {code: 'ERR_IMAGE_PULL', details: {missingSecrets: ['gone']}}});
	t.regex(JSON.stringify(wrong), /unauthorized: authentication required/);
	t.notRegex(JSON.stringify(wrong), /hush/);
	const outcome = await ensure(image, ['wrong', 'good']);
	t.is(idOf(outcome), (await dockerd().docker('image', 'inspect', '-f', '{{.Id}}', image)).trim());
	t.true(outcome.ok && (outcome.value.pulled?.bytes ?? 0) > 8_000_000);
	t.true(percents.length >= 1 && percents.every(each => each === undefined || (each >= 0 && each <= 100)));
	const listed = (await list()).find(({names}) => names.includes(image));
	t.is(listed?.id, idOf(outcome));
	t.false(listed?.inUse);
});

test.serial('what the registry does not have is told in its words; policies are kept to', async t => {
	await forget();
	const {ensure} = await open(t);
	const {host, requests} = registry();
	const absent = await ensure(`${host}/team/none:1`);
	t.like(absent, {ok: false, error: {code: 'ERR_IMAGE_PULL'}});
	t.regex(JSON.stringify(absent), /manifest unknown/);
	const closed = await ensure('127.0.0.1:5999/team/app:1');
	t.regex(JSON.stringify(closed), /connection refused/);
	t.like(await ensure(`${host}/${app}`, ['good'], 'Never'), {ok: false, error: {code: 'ERR_IMAGE_ABSENT'}});
	const id = idOf(await ensure(`${host}/${app}`));
	const before = requests('HEAD /v2/team/app/manifests');
	for (const policy of ['Never', 'IfNotPresent'] as const) t.is(idOf(await ensure(`${host}/${app}`, [], policy)), id);
	t.is(requests('HEAD /v2/team/app/manifests'), before, 'the registry was not asked');
	t.is(idOf(await ensure(`${host}/${app}`, ['good'], 'Always')), id);
	t.true(requests('HEAD /v2/team/app/manifests') > before);
	t.like(await ensure(`${host}/${app}`, ['wrong'], 'Always'), {ok: false}, 'Always is let in anew each time');
});

test.serial('a tag that moved is another image for Always, and the same one for a digest', async t => {
	await forget();
	const {ensure} = await open(t);
	const {host, push} = registry();
	const {docker} = dockerd();
	await push('app', 'team/moves:1');
	const first = idOf(await ensure(`${host}/team/moves:1`));
	const digest = (await docker('image', 'inspect', '-f', '{{index .RepoDigests 0}}', `${host}/team/moves:1`)).trim();
	await forget();
	await push('busybox', 'team/moves:1');
	const second = idOf(await ensure(`${host}/team/moves:1`, ['good'], 'Always'));
	t.not(second, first);
	t.is(idOf(await ensure(digest)), first);
	t.is(idOf(await ensure(digest, [], 'Never')), first);
});

test.serial('twenty that ask for one image at once are one pull', async t => {
	const {ensure} = await open(t);
	const {host, requests} = registry();
	const asked = async (count: number): Promise<number> => {
		await forget();
		const before = requests('GET /v2/team/app/blobs') + requests('HEAD /v2/team/app/manifests');
		const outcomes = await Promise.all(Array.from({length: count}, () => ensure(`${host}/${app}`, ['good'], 'Always')));
		t.true(outcomes.every(({ok}) => ok));
		return requests('GET /v2/team/app/blobs') + requests('HEAD /v2/team/app/manifests') - before;
	};
	const one = await asked(1);
	t.true(one > 0);
	t.is(await asked(20), one);
});

test.serial('images that were pulled go when the disk is full: not those of containers, nor those of people', async t => {
	await forget();
	const {ensure, directory, engine, warnings} = await open(t);
	const {host, push} = registry();
	const {docker} = dockerd();
	for (const name of ['team/a:1', 'team/b:1']) await push(name === 'team/a:1' ? 'app' : 'busybox', name);
	const [a, b] = [idOf(await ensure(`${host}/team/a:1`)), idOf(await ensure(`${host}/team/b:1`))];
	const container = (await docker('create', `${host}/team/a:1`)).trim();
	const clock = {...systemClock, nowMs: () => systemClock.nowMs() + 2 * limits.imageKeptMs};
	const remembered = createRemembered({file: path.join(directory, 'images.json'), clock, onWarning: message => t.fail(message)});
	t.deepEqual([...(await remembered.all()).keys()], [a, b]);
	const full = () => Promise.resolve({usedBytes: 99, totalBytes: 100});
	// `busybox` is the name that a person gave to the second one.
	t.deepEqual(await collectGarbage({engine, clock, remembered, diskUse: full}), []);
	await docker('rm', container);
	await docker('rmi', 'app');
	const later = {...clock, nowMs: () => clock.nowMs() + 2 * limits.imageKeptMs};
	t.deepEqual(await collectGarbage({engine, clock: later, remembered, diskUse: full}), [a]);
	await t.throwsAsync(docker('image', 'inspect', a));
	await docker('image', 'inspect', 'busybox');
	t.deepEqual(warnings, []);
});
