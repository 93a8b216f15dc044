// `troupe image` as a person meets it: two nodes with an Engine each, a registry that only one of them sees, and archives of `docker save`.
//
// The cluster and the agent run in the network namespace of the first Engine; so does each command. The second Engine reaches no registry.

import {spawn} from 'node:child_process';
import {existsSync, readFileSync, readdirSync, truncateSync, writeFileSync} from 'node:fs';
import {randomBytes} from 'node:crypto';
import path from 'node:path';
import test from 'ava';
import {startDockerd, type Dockerd} from '../../bench/rigs/servers/dockerd.js';
import {startDockerRegistry, type DockerRegistry} from '../../bench/rigs/servers/registry-server.js';
import {killAll} from '../../bench/rigs/cluster/processes.js';
import {eventually} from '../../bench/rigs/cluster/waiting.js';
import {main} from '../../bench/rigs/main-file.js';
import {freePorts, openHome, type Ran} from '../e2e/_rig.js';

const releases: (() => void | Promise<void>)[] = [];
const owner = {teardown: (release: () => void | Promise<void>): void => void releases.unshift(release)};
const home = openHome(owner);
const agentHome = path.join(home.folder, 'agent');
let world: {readonly one: Dockerd; readonly two: Dockerd; readonly registry: DockerRegistry} | undefined;

function started(): NonNullable<typeof world> {
	if (world === undefined) throw new Error('they are started before the first test');
	return world;
}

function troupe(args: readonly string[], {shell, root = home.home}: {shell?: string; root?: string} = {}): Promise<Ran> {
	const command = [process.execPath, main, ...args];
	const words = shell === undefined ? command : ['sh', '-c', shell, 'sh', ...command];
	const env = {TROUPE_HOME: root, NO_COLOR: '1'};
	return home.startProgram('nsenter', [`--net=/var/run/netns/${started().one.namespace}`, ...words], env).ended;
}

async function fine(...args: readonly string[]): Promise<string> {
	const {code, out, err} = await troupe(args);
	if (code !== 0) throw new Error(`troupe ${args.join(' ')} ended with ${code}: ${err}${out}`);
	return out;
}

const file = (name: string): string => path.join(home.folder, name);

/** An archive of an image of this name with so many bytes that do not get smaller; the Engine that made it has it no more. */
async function saved(name: string, bytes: number): Promise<string> {
	const {one} = started();
	const folder = file(`context-${name}`);
	writeFileSync(`${folder}.bin`, randomBytes(bytes));
	await one.docker('create', '--name', name, 'busybox', 'cat', '/large');
	await one.docker('cp', `${folder}.bin`, `${name}:/large`);
	await one.docker('commit', name, `${name}:1`);
	await one.docker('save', '-o', file(`${name}.tar`), `${name}:1`);
	await one.docker('rm', name);
	await one.docker('rmi', `${name}:1`);
	return file(`${name}.tar`);
}

/** A shell that gives a command so much of a file, and then neither more nor an end of it. */
const stopping = (archive: string, bytes: number): string =>
	`rm -f ${archive}.fifo; mkfifo ${archive}.fifo; (head -c ${bytes} ${archive}; exec sleep 200) >${archive}.fifo 2>&1 & pid=$!; "$@" <${archive}.fifo; code=$?; kill $pid; exit $code`;

/** What an Engine keeps of a load that did not end. */
const halves = ({folder}: Dockerd): readonly string[] => {
	const temporary = path.join(folder, 'data/tmp');
	return existsSync(temporary) ? readdirSync(temporary) : [];
};

const namesOn = async ({docker}: Dockerd): Promise<string> => docker('images', '--format', '{{.Repository}}:{{.Tag}}');

test.before('two Engines, a registry, a cluster and an agent start', async t => {
	const one = await startDockerd(owner, {bip: '10.244.11.1/24'});
	const two = await startDockerd(owner, {bip: '10.244.12.1/24'});
	const registry = await startDockerRegistry(owner, one, {isOpen: true});
	world = {one, two, registry};
	owner.teardown(() => killAll(agentHome));
	await fine('up', '--detach', '--node=one', '--docker', one.url, ...freePorts);
	const token = (await fine('token', 'create', '--join')).trim();
	const joined = ['agent', '--detach', '--join', home.endpoints().api, '--token', token, '--node=two', '--docker', two.url];
	const {code, err} = await troupe(joined, {root: agentHome});
	t.is(code, 0, err);
	await fine('wait', 'node/one', 'node/two', '--for', 'condition=Ready', '--timeout', '30s');
	await eventually('both nodes have an Engine', async () =>
		/one +busybox:latest[^]*two +busybox:latest/.test((await troupe(['image', 'ls'])).out),
	);
});
test.serial.after.always('all of it ends, and nothing is left', async t => {
	if (world !== undefined) for (const root of [home.home, agentHome]) await troupe(['down', '--pods'], {root});
	for (const release of releases) await release();
	t.deepEqual(
		[world?.one, world?.two].filter(each => existsSync(each?.folder ?? '')),
		[],
	);
});

test.serial('images are listed, of all nodes or of one', async t => {
	t.regex(
		await fine('image', 'ls'),
		/^NODE +IMAGE +ID +SIZE +USED +AGE\none +busybox:latest +[0-9a-f]{12} +\d\.\d MB +no +\d+\w+\ntwo +busybox:latest /,
	);
	t.notRegex(await fine('image', 'ls', '--node', 'two'), /^one/m);
	t.regex(await fine('image', 'ls', '-o', 'wide'), /sha256:[0-9a-f]{64}/);
	t.like(JSON.parse(await fine('image', 'ls', '--node', 'one', '-o', 'json')), {images: [{node: 'one', names: ['busybox:latest']}]});
	t.regex((await troupe(['image', 'ls', '--node', 'nosuch'])).err, /nodes "nosuch" not found/);
});

test.serial('an image is pulled where its registry is reached; where not, its words are told, and the others have it', async t => {
	const {one} = started();
	const {host, push} = started().registry;
	const archive = await saved('pulled', 20_000_000);
	await one.docker('load', '-i', archive);
	await one.docker('tag', 'pulled:1', 'source');
	await one.docker('rmi', 'pulled:1');
	await push('source', 'team/pulled:1');
	await one.docker('rmi', 'source');
	const name = `${host}/team/pulled:1`;
	const {code, out, err} = await troupe(['image', 'pull', name]);
	t.is(code, 1);
	t.regex(out, /^one: pulled \S+team\/pulled:1 \(22\.\d MB\)\n$/);
	t.regex(err, /^error: two: cannot pull image "\S+": .*connection refused\n$/);
	t.regex(await namesOn(one), /team\/pulled:1/);
	t.is((await troupe(['image', 'pull', name, '--node', 'one'])).code, 0, 'it is there already');
	t.regex((await troupe(['image', 'pull', `${host}/nosuch`, '--node', 'one'])).err, /error: one: cannot pull image .*manifest unknown/);
	t.regex((await troupe(['image', 'pull', 'Not A Name'])).err, /is no name of an image/);
});

test.serial('an archive reaches every node without a registry, and pods that never pull run it', async t => {
	const {one, two} = started();
	const archive = await saved('app', 3_000_000);
	t.regex(await fine('image', 'load', archive), /^one: loaded app:1 \(5\.\d MB\)\ntwo: loaded app:1 \(5\.\d MB\)\n$/);
	t.regex(await namesOn(one), /^app:1$/m);
	t.regex(await namesOn(two), /^app:1$/m);
	for (const node of ['one', 'two']) {
		const container = {name: 'c', image: 'app:1', imagePullPolicy: 'Never', command: ['sh', '-c', 'wc -c </large; sleep infinity']};
		const spec = {runtimeClassName: 'docker', nodeName: node, terminationGracePeriodSeconds: 0, containers: [container]};
		writeFileSync(file('pod.json'), JSON.stringify({apiVersion: 'v1', kind: 'Pod', metadata: {name: `on-${node}`}, spec}));
		await fine('apply', '-f', file('pod.json'));
		await fine('wait', `pod/on-${node}`, '--for', 'condition=Ready', '--timeout', '30s');
		await eventually('it has said how large its file is', async () => (await troupe(['logs', `on-${node}`])).out === '3000000\n');
	}
	t.regex(await fine('image', 'ls', '--node', 'two'), /app:1 .* yes /);
	await fine('delete', 'pod', 'on-one', 'on-two');
	const ids = JSON.parse(
		readFileSync(path.join(agentHome, 'data/docker/images.json'), {encoding: 'utf8', flag: 'a+'}) || '{"images":{}}',
	) as {
		readonly images: object;
	};
	t.deepEqual(Object.keys(ids.images), [], 'the agent removes none that was loaded');
});

test.serial('an archive that is compressed, and one that comes by stdin', async t => {
	const {two} = started();
	const archive = await saved('packed', 1_000_000);
	const gzipped = await troupe(['image', 'load', `${archive}.gz`, '--node', 'two'], {shell: `gzip -k ${archive}; exec "$@"`});
	t.is(gzipped.out, 'two: loaded packed:1 (3.0 MB)\n', gzipped.err);
	await two.docker('rmi', 'packed:1');
	const piped = await troupe(['image', 'load', '-', '--node', 'two'], {shell: `cat ${archive} | "$@"`});
	t.is(piped.out, 'two: loaded packed:1 (3.0 MB)\n', piped.err);
	const both = await troupe(['image', 'load', '-'], {shell: `cat ${archive} | "$@"`});
	t.is(both.code, 2);
	t.regex(both.err, /stdin can be read once, and these are 2 nodes: name one with --node/);
});

test.serial('what is no archive, or is cut off, is refused with the reason, and nothing of it is left', async t => {
	const {one, two} = started();
	writeFileSync(file('rubbish'), randomBytes(30_000_000));
	const rubbish = await troupe(['image', 'load', file('rubbish')]);
	t.is(rubbish.code, 1);
	t.regex(rubbish.err, /^error: one: .*invalid tar header\nerror: two: .*invalid tar header\n$/);
	const archive = await saved('cut', 5_000_000);
	truncateSync(archive, 3_000_000);
	t.regex((await troupe(['image', 'load', archive, '--node', 'two'])).err, /^error: two: .*unexpected EOF\n$/);
	writeFileSync(file('empty'), '');
	t.regex((await troupe(['image', 'load', file('empty'), '--node', 'two'])).err, /^error: two: there is no image in the archive/);
	t.regex((await troupe(['image', 'load', file('nosuch')])).err, /nosuch: there is no such file/);
	t.regex((await troupe(['image', 'load', home.folder])).err, /is a folder/);
	t.notRegex(await namesOn(two), /^cut:1$/m);
	t.deepEqual([...halves(one), ...halves(two)], []);
});

test.serial('a login that may only look lists, and brings nothing', async t => {
	const archive = await saved('secret', 1_000);
	const token = (await fine('token', 'create', 'eve', '--role', 'view')).trim();
	const viewer = file('viewer.kubeconfig');
	const text = readFileSync(path.join(home.home, 'kubeconfig'), 'utf8').replace(home.token(), token);
	t.true(text.includes(token));
	writeFileSync(viewer, text);
	t.is((await troupe(['image', 'ls', '--kubeconfig', viewer])).code, 0);
	for (const words of [
		['pull', 'busybox'],
		['load', archive],
	]) {
		const {code, err} = await troupe(['image', ...words, '--kubeconfig', viewer]);
		t.is(code, 1);
		t.regex(err, /error: one: User "eve" cannot create "troupe\/images"/);
	}
	t.notRegex(await namesOn(started().one), /secret/);
});

test.serial('a client that is killed in the middle leaves nothing, and room for the next', async t => {
	const {one} = started();
	const archive = await saved('killed', 60_000_000);
	const words = [`--net=/var/run/netns/${one.namespace}`, process.execPath, main, 'image', 'load', '-', '--node', 'one'];
	const child = spawn('nsenter', words, {env: {...process.env, TROUPE_HOME: home.home}, stdio: ['pipe', 'ignore', 'ignore']});
	const ended = new Promise(resolve => child.once('exit', resolve));
	child.stdin.on('error', () => undefined);
	child.stdin.write(readFileSync(archive).subarray(0, 20_000_000));
	await eventually('the Engine has begun', () => halves(one).length > 0);
	child.kill('SIGKILL');
	await ended;
	await eventually('the Engine has thrown it away', () => halves(one).length === 0);
	t.notRegex(await namesOn(one), /^killed:1$/m);
	t.regex(await fine('image', 'load', archive, '--node', 'one'), /^one: loaded killed:1/);
});

test.serial('an Engine that ends in the middle, and one that hangs: the load ends with words', async t => {
	const {one} = started();
	const archive = await saved('middle', 60_000_000);
	/** Sends so much of it, and then nothing until the command ends. */
	const part = (bytes: number): Promise<Ran> => troupe(['image', 'load', '-', '--node', 'one'], {shell: stopping(archive, bytes)});
	// All of it is taken, and the command waits for more.
	const cut = part(1_000_000);
	await eventually('the Engine has begun', () => halves(one).length > 0);
	await one.kill();
	const {code, err} = await cut;
	t.is(code, 1);
	t.regex(err, /^error: one: .*Docker's Engine closed the connection/);
	await one.start();
	await eventually('the node has its Engine again', async () => (await troupe(['image', 'ls', '--node', 'one'])).code === 0);
	const hung = part(30_000_000);
	await eventually('the Engine has begun', () => halves(one).length > 0);
	await one.pause();
	const late = await hung;
	one.wake();
	t.is(late.code, 1);
	t.regex(late.err, /^error: one: .*Docker's Engine did not answer within/);
	await eventually('the node has its Engine again', async () => (await troupe(['image', 'ls', '--node', 'one'])).code === 0);
	t.regex(await fine('image', 'load', archive, '--node', 'one'), /^one: loaded middle:1/);
});
