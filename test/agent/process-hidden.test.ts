// Where the agent is an ordinary user its pods are that user, too: what they find of its folder, and by what ways they look.

import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {ContainerId, ContainerSpec, VolumeSpec} from '../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import {alsoAt, outermost, placesOf} from '../../agent/process/mounts/hidden.js';
import {mountsIn} from '../../agent/os/mountinfo.js';
import {succeeded} from '../../api/errors.js';
import {isRoot, needing} from '../_needing.js';
import {conditionsHere, processWorld} from './process-world.js';
import {aContainer, driver, mount} from './runtime-contract.js';

/** Whether an ordinary user's agent may mount: else the node says that it keeps nothing from its pods. */
const hides = !isRoot && !(await conditionsHere()).includes('SharedHome');
const hiding = needing(hides, 'needs an ordinary user who may make namespaces');

const secrets: NodeSecrets = {
	open: (_ref, done) => done(succeeded({word: Buffer.from('the-secret-of-the-other').toString('base64')})),
	retain: (_keys, done) => done(succeeded(null)),
};

const secret: VolumeSpec = {
	name: 'secret',
	source: {type: 'secret', ref: {secret: 'login', version: '1', optional: false}, items: undefined, mode: 0o644},
};
const scratch: VolumeSpec = {name: 'scratch', source: {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined}};
const host = (place: string): VolumeSpec => ({name: 'host', source: {type: 'hostPath', path: place, check: ''}});

const main = {uid: 'uid-1', container: 'main'};
const other = {uid: 'uid-2', container: 'main'};

/** A node with a token in its folder, and a pod that has a Secret and a log. */
async function nodeOf(t: ExecutionContext) {
	const world = processWorld(clean => t.teardown(clean), {secrets, hostPaths: {allowed: 'all', never: []}});
	const calls = driver(world);
	const written = async (id: ContainerId): Promise<string> => Buffer.from((await calls.value(calls.log(id))).data, 'base64').toString();
	const says = async (text: string, id: ContainerId = main): Promise<string> => {
		for (let all = await written(id); ; all = await written(id)) if (all.includes(text)) return all;
	};
	const run = async (script: string, volumes: readonly VolumeSpec[] = [], spec: Partial<ContainerSpec> = {}, {uid} = main) => {
		await calls.ensure(uid);
		await calls.value(calls.run<'volumes.ensure'>({type: 'volumes.ensure', uid, namespace: 'default', volumes, fsGroup: undefined}));
		return calls.run<'container.start'>({type: 'container.start', spec: aContainer('runs', {...spec, uid, argv: ['sh', '-c', script]})});
	};
	/** What a program in the container writes. */
	const inside = async (script: string): Promise<string> => {
		const {stdout, stderr} = await calls.hearAll((await calls.value(calls.exec(main, ['sh', '-c', script]))).session);
		return stdout + stderr;
	};
	writeFileSync(path.join(world.directory, 'admin.token'), 'the-token');
	await run(
		'cat /run/secret/word; echo; echo "the-log-of-the-other"; sleep infinity',
		[secret],
		{mounts: [mount('secret', '/run/secret')]},
		other,
	);
	t.true((await says('the-log-of-the-other', other)).includes('the-secret-of-the-other'));
	return {...calls, world, says, run, inside};
}

/** All that can be read at a place. */
const readAll = (place: string): string => `find ${place} -type f -exec cat {} + 2>&1; ls -a ${place}`;

const shapes: Readonly<Record<string, Partial<ContainerSpec>>> = {
	'without volumes': {},
	'in a terminal': {tty: true},
	'with a volume where the node has a place': {mounts: [mount('scratch', '/mnt')]},
	'with a volume where it has none': {mounts: [mount('scratch', '/no/such/place')]},
	'with a root that is read-only': {readOnlyRoot: true},
};

for (const [shape, spec] of Object.entries(shapes))
	hiding(`a container ${shape} reads nothing of the agent's folder, nor does what joins it, also under a later agent`, async t => {
		const {world, run, says, inside, restartAgent} = await nodeOf(t);
		const ways = [
			world.directory,
			`${world.directory}-homes`,
			'"$HOME/../.."',
			`/proc/self/root${world.directory}`,
			`/proc/[0-9]*/root${world.directory}`,
			'/proc/[0-9]*/cwd/../..',
		];
		const hunt = ways.map(readAll).join('; ');
		t.like(await run(`${hunt}; echo over; sleep infinity`, [scratch], spec), {ok: true});
		const looks = [await says('over'), await inside(hunt)];
		await restartAgent();
		looks.push(await inside(hunt));
		for (const text of looks) t.notRegex(text, /the-token|of-the-other|admin\.token|\.stock|uid-2/);
	});

hiding('a program has its own folder, its volumes, its output and no other descriptors', async t => {
	const {run, says, inside, act} = await nodeOf(t);
	const script = [
		'echo kept >$HOME/file && cat $HOME/file',
		'cat /run/own/word',
		'echo more >/no/such/place/file && cat /no/such/place/file',
		'echo by its name >>/dev/stdout',
		'echo by the other >>/dev/stderr',
		'for each in 3 4 5 6 7 8 9; do [ ! -e /proc/$$/fd/$each ] || echo open $each; done',
		'pwd; (cd ..; touch x 2>&1; ls)',
		'echo over; sleep infinity',
	].join('\n');
	t.like(await run(script, [scratch, secret], {mounts: [mount('scratch', '/no/such/place'), mount('secret', '/run/own')]}), {ok: true});
	const text = await says('over');
	for (const line of ['kept', 'the-secret-of-the-other', 'more', 'by its name', 'by the other']) t.true(text.includes(line), line);
	t.notRegex(text, /^open/m);
	t.regex(text, /uid-1\/\d+\n.*x.*Read-only file system\n\d+\nover/);
	t.regex(await inside('pwd; cat $HOME/file; echo to a pipe >/dev/stdout'), /uid-1\/\d+\nkept\nto a pipe/);
	t.like(await act(main, {type: 'exec', argv: ['sh', '-c', 'cat $HOME/file']}), {value: {ok: true, message: 'kept'}});
});

hiding('no namespaces that a program makes uncover it, and it cannot be moved', async t => {
	const {world, run, says} = await nodeOf(t);
	const {directory} = world;
	const inOwn = (script: string): string => `unshare -Urm sh -c '${script}' 2>&1`;
	const show = `cat ${directory}/admin.token; ls $HOME/t${directory} $HOME/t/${path.basename(directory)}`;
	const tries = [
		inOwn(`umount ${directory}; ${show}`),
		inOwn(`umount -l ${directory}; ${show}`),
		inOwn(`mount --bind / $HOME/t; ${show}`),
		inOwn(`mount --rbind / $HOME/t; umount -l $HOME/t${directory}; ${show}`),
		inOwn(`mount --bind /tmp $HOME/t; ${show}`),
		inOwn(`mkdir $HOME/u; mount --move ${directory} $HOME/u; ${show}`),
		inOwn(`mount -t overlay -o lowerdir=/tmp:/etc,userxattr none $HOME/t; ${show}`),
		`mv ${directory} ${directory}-moved 2>&1; rmdir ${directory} 2>&1; ${show} 2>&1`,
		'nsenter -t 1 -m -U true 2>&1',
	];
	await run(`mkdir $HOME/t; ${tries.join('; ')}; echo over; sleep infinity`);
	const text = await says('over');
	t.notRegex(text, /the-token|of-the-other|admin\.token\n|\.stock|uid-2/);
	t.is(readFileSync(path.join(directory, 'admin.token'), 'utf8'), 'the-token');
});

for (const readOnly of [false, true])
	hiding(`a folder of the node that the agent's is in does not show it${readOnly ? ', mounted read-only' : ''}`, async t => {
		const {world, run, says} = await nodeOf(t);
		const top = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-hidden-')));
		t.teardown(() => rmSync(top, {recursive: true, force: true}));
		mkdirSync(path.join(top, 'a'));
		mkdirSync(path.join(top, 'b'));
		const folder = path.dirname(world.directory);
		const mounts = [
			mount('host', path.join(top, 'a')),
			mount('host', path.join(top, 'b'), {readOnly}),
			mount('host', '/no/such/place', {readOnly}),
		];
		const name = path.basename(world.directory);
		const places = [...mounts.map(each => path.join(each.path, name)), path.join(top, 'a', path.basename(top), 'b', name)];
		const started = await run(`${places.map(readAll).join('; ')}; echo over; sleep infinity`, [host(folder)], {mounts});
		// What others have mounted in that folder cannot be left out in a user namespace.
		if (!started.ok) {
			t.true(readOnly);
			t.regex(started.error.message, /cannot be mounted/);
			return;
		}
		t.notRegex(await says('over'), /the-token|of-the-other|admin\.token|\.stock|uid-2/);
	});

hiding('nothing of it is a program, a working directory, a mount point or a folder to be mounted', async t => {
	const {world, run, start, ensure} = await nodeOf(t);
	const {directory} = world;
	const link = path.join(os.tmpdir(), `troupe-hidden-link-${process.pid}`);
	symlinkSync(directory, link);
	t.teardown(() => rmSync(link));
	await ensure('uid-1');
	for (const folder of [directory, link]) {
		await t.throwsAsync(start(aContainer('runs', {argv: [path.join(folder, 'admin.token')]})), {
			message: /program ".*" is in the folder of Troupe itself/,
		});
		await t.throwsAsync(start(aContainer('runs', {workingDir: folder})), {
			message: /working directory ".*" is in the folder of Troupe itself/,
		});
		const mounted = await run('true', [scratch], {mounts: [mount('scratch', path.join(folder, 'x'))]});
		t.regex(mounted.ok ? '' : mounted.error.message, /cannot be mounted at ".*": that is in the folder of Troupe itself/);
		await t.throwsAsync(run('true', [host(folder)], {mounts: [mount('host', '/mnt')]}), {message: /is in the folder of Troupe itself/});
	}
});

const table = [
	'21 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
	'22 21 0:5 / /tmp rw - tmpfs tmpfs rw',
	'23 21 254:1 / /home rw - ext4 /dev/vdb rw',
	'24 21 254:1 /ada/clusters /srv/with\\040space rw - ext4 /dev/vdb rw',
	'25 21 254:1 / /mnt rw - ext4 /dev/vdb rw',
	'26 21 254:1 /eve /eve rw - ext4 /dev/vdb rw',
	'',
].join('\n');

test('a folder is also where its file system is mounted elsewhere, by what of it is mounted', t => {
	t.deepEqual(alsoAt('/home/ada/clusters/one', mountsIn(table)), ['/srv/with space/one', '/mnt/ada/clusters/one']);
	t.deepEqual(alsoAt('/srv/with space/one', mountsIn(table)), ['/home/ada/clusters/one', '/mnt/ada/clusters/one']);
	t.deepEqual(alsoAt('/opt/x', mountsIn(table)), []);
	t.deepEqual(alsoAt('/home/ada', []), []);
});

test('what is in another folder is hidden with it, and what is not there needs no hiding', t => {
	t.deepEqual(outermost(['/a/b', '/a', '/ab', '/a', '/c']), ['/a', '/ab', '/c']);
	const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'troupe-hidden-')));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	mkdirSync(path.join(folder, 'real', 'data'), {recursive: true});
	symlinkSync('real', path.join(folder, 'link'));
	const wanted = ['link', 'link/data', 'real', 'missing'].map(name => path.join(folder, name));
	t.true(placesOf(wanted).includes(path.join(folder, 'real')));
	t.true(placesOf(wanted).every(place => path.basename(place) === 'real'));
});
