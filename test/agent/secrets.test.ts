// Secrets at a node's edge: fetched once a version, kept sealed, opened for one program's environment and for nobody else.

import {existsSync, readFileSync, readdirSync, statSync, writeFileSync} from 'node:fs';
import {mkdtemp, rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {base64Of} from '../../api/base64.js';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {ContainerSpec, EnvSource, EnvVariable, ValuePart} from '../../actors/node/runtime/runtime-port.js';
import {noSecrets, type FetchedSecret, type NodeSecrets, type SecretData} from '../../actors/node/runtime/secrets-port.js';
import {createSecretCache, type SecretCache} from '../../agent/secret-cache.js';
import {openSpec} from '../../agent/secret-env.js';
import {createSimulatedRuntime} from '../../agent/simulated-runtime.js';
import {readOrMakeKey} from '../../system/files/key-file.js';
import {ManualClock} from '../../system/time/manual-clock.js';
import {seededRandom} from '../../system/time/random.js';
import {processWorld} from './process-world.js';
import {aContainer, driver} from './runtime-contract.js';
import {aSandbox} from './_sandbox.js';

const marker = 'MARKER-0815-geheim';
const markerBase64 = base64Of(marker);
const unreachable = failed('ERR_NOT_REACHABLE', {message: 'no server answers'});

const opening = (data: Record<string, SecretData>): NodeSecrets => ({
	...noSecrets,
	open({name}, done) {
		const found = data[name];
		done(found === undefined ? failed('ERR_CONFIG_MISSING', {message: `secret "${name}" not found`}) : succeeded(found));
	},
});

const ref = {secret: 'db', version: 'v1', optional: false};
const part = (key: string, overrides: object = {}): ValuePart => ({...ref, key, otherwise: undefined, ...overrides});

function opened(env: readonly EnvSource[], secrets: NodeSecrets): readonly EnvVariable[] | string {
	let result: readonly EnvVariable[] | string = 'not answered';
	openSpec({...aContainer('runs'), env}, secrets, outcome => {
		result = outcome.ok ? outcome.value.env : `${outcome.error.code}: ${outcome.error.message}`;
	});
	return result;
}

test('entries of Secrets take their places; what comes later counts; all of it is marked', t => {
	const secrets = opening({db: {password: markerBase64, user: base64Of('me')}});
	const env: EnvSource[] = [
		{name: 'user', value: 'nobody'},
		{entriesOf: ref, prefix: ''},
		{name: 'URL', parts: ['db://', part('user'), ':', part('password'), '@']},
		{name: 'password', value: 'mine'},
	];
	t.deepEqual(opened(env, secrets), [
		{name: 'user', value: 'me', isSecret: true},
		{name: 'password', value: 'mine'},
		{name: 'URL', value: `db://me:${marker}@`, isSecret: true},
	]);
});

test('values that are longer together than any environment are refused, without one of them', t => {
	const secrets = opening({db: {large: base64Of('x'.repeat(700_000))}});
	const refused = 'ERR_CONFIG_MISSING: the environment is longer than 2097152 characters';
	t.is(opened([{name: 'A', parts: [part('large'), part('large'), part('large')]}], secrets), refused);
	const three = ['A', 'B', 'C'].map(name => ({name, parts: [part('large')]}));
	t.is(opened(three, secrets), refused);
	t.not(opened(three.slice(1), secrets), refused);
});

test('what is missing is named, and what is optional left out or left as it was written', t => {
	const secrets = opening({db: {}});
	t.is(opened([{name: 'A', parts: [part('pin')]}], secrets), "ERR_CONFIG_MISSING: couldn't find key pin in Secret default/db");
	t.is(opened([{name: 'A', parts: [part('pin', {secret: 'x'})]}], secrets), 'ERR_CONFIG_MISSING: secret "x" not found');
	t.is(opened([{entriesOf: {...ref, secret: 'x'}, prefix: ''}], secrets), 'ERR_CONFIG_MISSING: secret "x" not found');
	const optional = {optional: true};
	t.deepEqual(
		opened(
			[
				{name: 'A', parts: [part('pin', optional)]},
				{entriesOf: {...ref, secret: 'x', ...optional}, prefix: ''},
			],
			secrets,
		),
		[],
	);
	t.deepEqual(opened([{name: 'A', parts: ['<', part('pin', {...optional, otherwise: '$(P)'}), '>']}], secrets), [
		{name: 'A', value: '<$(P)>', isSecret: true},
	]);
	t.is(
		opened([{entriesOf: ref, prefix: ''}], noSecrets),
		'ERR_NOT_REACHABLE: secret "db" cannot be fetched: this node has no way to Secrets',
	);
});

test('bytes that no environment takes are refused without being shown', t => {
	for (const bytes of [Buffer.from([0xff, 0xfe]), Buffer.from(`${marker}\0`)]) {
		const said = opened([{name: 'A', parts: [part('blob')]}], opening({db: {blob: bytes.toString('base64')}}));
		t.is(said, 'ERR_CONFIG_MISSING: key blob of Secret default/db is no UTF-8 text without NUL, and so cannot be a variable');
	}
});

// ---- the cache ---------------------------------------------------------------------------------------------------------------

async function cacheWorld(t: ExecutionContext) {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'troupe-secrets-'));
	t.teardown(() => rm(folder, {recursive: true, force: true}));
	const directory = path.join(folder, 'secrets');
	const keyFile = path.join(folder, 'node.key');
	const world = {
		directory,
		keyFile,
		fetches: 0,
		certificates: 0,
		warnings: [] as string[],
		answer: succeeded({version: 'v1', data: {password: markerBase64}}) as Outcome<FetchedSecret>,
		/** As an agent that has just started. */
		start: async (): Promise<SecretCache> =>
			createSecretCache({
				directory,
				key: await readOrMakeKey(keyFile),
				onWarning: message => world.warnings.push(message),
				fetch() {
					world.fetches++;
					return Promise.resolve(world.answer);
				},
				fetchCertificate() {
					world.certificates++;
					return Promise.resolve(world.answer.ok ? succeeded({version: 'v1', data: {'tls.crt': markerBase64}}) : world.answer);
				},
			}),
		files: () => readdirSync(directory),
	};
	return world;
}

const open = (secrets: NodeSecrets, version = 'v1', name = 'db'): Promise<Outcome<SecretData>> =>
	new Promise(resolve => secrets.open({namespace: 'default', name, version}, resolve));
const retain = (secrets: NodeSecrets, ...keys: string[]): Promise<Outcome<null>> => new Promise(resolve => secrets.retain(keys, resolve));
const value = {ok: true, value: {password: markerBase64}};

test('a version is fetched once, whoever asks and however often, also by the next agent', async t => {
	const world = await cacheWorld(t);
	const secrets = await world.start();
	t.deepEqual(await Promise.all([open(secrets), open(secrets), open(secrets)]), [value, value, value]);
	t.is(world.fetches, 1);
	world.answer = unreachable;
	t.deepEqual(await open(await world.start()), value);
	t.is(world.fetches, 1);
});

test('the certificate in a Secret is kept apart from the Secret, says its version, and opens while no server answers', async t => {
	const world = await cacheWorld(t);
	const secrets = await world.start();
	const certificate = (from: SecretCache, version = 'v1'): Promise<Outcome<FetchedSecret>> =>
		new Promise(resolve => from.openCertificate({namespace: 'default', name: 'db', version}, resolve));
	const its = {ok: true, value: {version: 'v1', data: {'tls.crt': markerBase64}}} as const;
	t.deepEqual(await certificate(secrets), its);
	t.deepEqual(await open(secrets), value, 'a pod that names the Secret has all of it');
	t.deepEqual([world.fetches, world.certificates, world.files().length], [1, 1, 2]);
	t.true(world.files().every(name => !readFileSync(path.join(world.directory, name), 'latin1').includes(markerBase64)));
	world.answer = unreachable;
	t.deepEqual(await certificate(await world.start(), 'v2'), its, 'an older one is better than none, and is told as that');
	await retain(secrets, 'certificates/default/db');
	t.is(world.files().length, 1);
	t.deepEqual(await certificate(await world.start()), its);
	t.deepEqual(await open(await world.start()), unreachable);
});

test('what is kept opens with the node’s key alone, and is readable by its owner alone', async t => {
	const world = await cacheWorld(t);
	await open(await world.start());
	const [file = ''] = world.files();
	const text = readFileSync(path.join(world.directory, file), 'latin1');
	for (const form of [marker, markerBase64, 'default']) t.false(text.includes(form) || file.includes(form));
	t.false(Buffer.from(text, 'base64url').includes(marker));
	t.is(statSync(path.join(world.directory, file)).mode & 0o777, 0o600);
	t.is(statSync(world.directory).mode & 0o777, 0o700);
	t.is(statSync(world.keyFile).mode & 0o777, 0o600);

	writeFileSync(world.keyFile, Buffer.alloc(32, 9));
	await open(await world.start());
	t.is(world.fetches, 2);
	t.deepEqual(world.warnings, ['what was kept of secrets/default/db cannot be read and is fetched again']);
});

test('a new version is fetched; where control cannot be asked the one that is there serves', async t => {
	const world = await cacheWorld(t);
	const secrets = await world.start();
	await open(secrets);
	world.answer = unreachable;
	t.deepEqual(await open(secrets, 'v2'), value);
	world.answer = succeeded({version: 'v2', data: {password: ''}});
	t.deepEqual(await open(secrets, 'v2'), {ok: true, value: {password: ''}});
	t.is(world.fetches, 3);
	world.answer = unreachable;
	t.like(await open(secrets, 'v1', 'other'), {ok: false, error: {code: 'ERR_NOT_REACHABLE'}});
});

test('a Secret that is not there, or not for this node, is missing, and none that was kept stands in for it', async t => {
	const world = await cacheWorld(t);
	const secrets = await world.start();
	await open(secrets);
	for (const code of ['ERR_NOT_FOUND', 'ERR_FORBIDDEN'] as const) {
		world.answer = failed(code, {message: 'no', resource: 'secrets', name: 'db'});
		t.like(await open(secrets, 'v2'), {ok: false, error: {code: 'ERR_CONFIG_MISSING', message: 'secret "db" not found'}});
	}
});

test('what is not named any more is forgotten, and what an agent that died left behind', async t => {
	const world = await cacheWorld(t);
	const secrets = await world.start();
	await open(secrets);
	await open(secrets, 'v1', 'other');
	writeFileSync(path.join(world.directory, '.half.written'), '');
	t.deepEqual(await retain(secrets, 'secrets/default/db', 'secrets/default/new'), {ok: true, value: null});
	t.is(world.files().filter(name => !name.startsWith('.')).length, 1);
	const next = await world.start();
	t.is(world.files().length, 1);
	t.deepEqual(await open(next), value);
	t.is(world.fetches, 2);
	await rm(world.directory, {recursive: true});
	t.like(await retain(next), {ok: false, error: {code: 'ERR_RUNTIME'}});
	t.like(await open(next, 'v1', 'unkept'), {ok: true});
	t.is(world.warnings.length, 1);
});

// ---- runtimes ----------------------------------------------------------------------------------------------------------------

const withSecret: ContainerSpec = {...aContainer('runs'), env: [{name: 'PASSWORD', parts: [part('password')]}]};

test('a simulated program gets its Secrets; its host keeps the names alone', async t => {
	const clock = new ManualClock();
	const seen: (readonly EnvVariable[])[] = [];
	const script = {
		program: ({env}: {readonly env: readonly EnvVariable[]}) => {
			seen.push(env);
			return {ends: undefined, terminates: undefined};
		},
	};
	const runtime = createSimulatedRuntime({clock, random: seededRandom(1), script, secrets: opening({db: {password: markerBase64}})});
	t.teardown(() => runtime.close());
	runtime.run(
		{
			type: 'sandbox.ensure',
			spec: aSandbox(withSecret.id.uid, {name: 'web', hostname: 'web'}),
		},
		() => undefined,
	);
	const started = new Promise(resolve => runtime.run({type: 'container.start', spec: withSecret}, resolve));
	clock.advance(1);
	t.like(await started, {ok: true});
	t.deepEqual(seen, [[{name: 'PASSWORD', value: marker, isSecret: true}]]);
});

/** Command lines of all processes, and the environments of those that others may look into. */
const commandLines = (): string =>
	readdirSync('/proc')
		.filter(name => /^\d+$/.test(name))
		.map(name => {
			try {
				return readFileSync(`/proc/${name}/cmdline`, 'latin1');
			} catch {
				return '';
			}
		})
		.join('\n');

const filesBelow = (directory: string): string[] =>
	readdirSync(directory, {recursive: true, withFileTypes: true})
		.filter(entry => entry.isFile())
		.map(entry => readFileSync(path.join(entry.parentPath, entry.name), 'latin1'));

test('a process gets its Secrets in its environment: neither a command line nor a file of the runtime has them', async t => {
	const world = processWorld(clean => t.teardown(clean), {secrets: opening({db: {password: markerBase64}})});
	const {ensure, start, log, value: valueOf} = driver(world);
	await ensure(withSecret.id.uid);
	const argv = ['sh', '-c', 'echo ${#PASSWORD}; exec sleep 1000'];
	const running = await start({...withSecret, argv});
	let text = '';
	while (text === '') text = Buffer.from((await valueOf(log(withSecret.id))).data, 'base64').toString();
	t.is(text, `${marker.length}\n`);
	t.true(readFileSync(`/proc/${running.pid}/environ`, 'utf8').includes(`PASSWORD=${marker}`));
	t.true(existsSync(world.directory));
	for (const place of [commandLines(), ...filesBelow(world.directory), ...world.warnings])
		t.false(place.includes(marker) || place.includes(markerBase64));
});

test('a missing disk is an answer, not a crash, also where Secrets were waited for', async t => {
	const {open, retain} = opening({db: {password: markerBase64}});
	const secrets: NodeSecrets = {open: (wanted, done) => void Promise.resolve().then(() => open(wanted, done)), retain};
	const world = processWorld(clean => t.teardown(clean), {secrets, stockFolders: 0});
	const {ensure, run} = driver(world);
	await ensure(withSecret.id.uid);
	await rm(world.directory, {recursive: true});
	writeFileSync(world.directory, 'a file where the folder was');
	t.like(await run<'container.start'>({type: 'container.start', spec: withSecret}), {ok: false, error: {code: 'ERR_RUNTIME'}});
	await rm(world.directory);
});

test('a Secret under a name that only env(1) could set is refused: its command line would show it', async t => {
	const world = processWorld(clean => t.teardown(clean), {secrets: opening({db: {'tls.key': markerBase64}})});
	const {ensure} = driver(world);
	await ensure(withSecret.id.uid);
	const spec: ContainerSpec = {...withSecret, env: [{entriesOf: ref, prefix: ''}]};
	const outcome = await new Promise<Outcome<unknown>>(resolve => world.runtime().run({type: 'container.start', spec}, resolve));
	t.like(outcome, {ok: false, error: {code: 'ERR_BAD_REQUEST'}});
	t.regex(outcome.ok ? '' : outcome.error.message, /variable "tls\.key" gets its value from a Secret/);
	t.false(JSON.stringify(outcome).includes(marker));
});
