// What a container on Docker may do and has, as it is seen from inside of it.

import {mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {until} from '../../bench/rigs/servers/server.js';
import type {ContainerSpec, VolumeSource} from '../../actors/node/runtime/runtime-port.js';
import type {DockerRuntimeOptions} from '../../agent/docker-runtime.js';
import {aSandbox} from '../agent/_sandbox.js';
import {dockerWorld} from '../agent/docker-world.js';
import {aContainer, driver, mount} from '../agent/runtime-contract.js';
import {sharedDockerd} from './_dockerd.js';

const dockerd = sharedDockerd(test);

/** A node, a pod on it, and a way to run a shell's words in a container of it to their end. */
function aNode(t: ExecutionContext, options: Partial<DockerRuntimeOptions> = {}) {
	const world = dockerWorld(dockerd(), clean => t.teardown(clean), options);
	const {run, value, ensure, start, ends, told} = driver(world);
	let count = 0;
	const specOf = (script: string, rest: Partial<ContainerSpec>): ContainerSpec =>
		aContainer('runs', {container: `c${count++}`, image: 'busybox', argv: ['sh', '-c', script], ...rest});
	return {
		world,
		run,
		value,
		ensure,
		told,
		start,
		specOf,
		/** What it writes, as the Engine has it. */
		said: async (script: string, rest: Partial<ContainerSpec> = {}): Promise<string> => {
			const spec = specOf(`{ ${script}; } 2>&1; sleep 1000000`, rest);
			const {handle} = await start(spec);
			let text = '';
			await until(`${script} has said something`, async () => {
				text = await dockerd().docker('logs', handle.slice('docker://'.length));
				return text.includes('--end--');
			});
			return text.replace(/--end--\n$/, '');
		},
		/** How it ends. */
		exit: async (script: string, rest: Partial<ContainerSpec> = {}) => {
			const before = told.length;
			await start(specOf(script, rest));
			return (await ends(before + 1)).at(-1)?.exit;
		},
		refusal: async (rest: Partial<ContainerSpec>): Promise<string> => {
			const outcome = await run<'container.start'>({type: 'container.start', spec: specOf('true', rest)});
			return outcome.ok ? 'it runs' : outcome.error.message;
		},
		volumes: (sources: Readonly<Record<string, VolumeSource>>, fsGroup?: number) =>
			value(
				run<'volumes.ensure'>({
					type: 'volumes.ensure',
					uid: 'uid-1',
					namespace: 'default',
					volumes: Object.entries(sources).map(([name, source]) => ({name, source})),
					fsGroup,
				}),
			),
	};
}

const end = 'echo --end--';
const status = (name: string): string => `grep ^${name}: /proc/self/status | cut -f2`;

/** Busybox with users of its own: `app` (1000, group 1000) is in 2000 and 3000. */
async function imageWithUsers(name: string, user: string): Promise<void> {
	const folder = mkdtempSync('/tmp/troupe-users-');
	try {
		mkdirSync(path.join(folder, 'etc'));
		writeFileSync(path.join(folder, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\napp:x:1000:1000::/:/bin/sh\n');
		writeFileSync(path.join(folder, 'etc/group'), 'root:x:0:\napp:x:1000:\nmore:x:2000:app\nmost:x:3000:app,root\n');
		writeFileSync(path.join(folder, 'Dockerfile'), `FROM busybox\nCOPY etc /etc\nUSER ${user}\n`);
		await dockerd().docker('build', '-q', '-t', name, folder);
	} finally {
		rmSync(folder, {recursive: true, force: true});
	}
}

test('user and groups are those of the spec, of the image, and of its lists', async t => {
	await imageWithUsers('with-users', 'app');
	await imageWithUsers('as-root', 'root');
	const {ensure, said, refusal} = aNode(t);
	await ensure('uid-1');
	const id = `echo $(id -u) $(id -g) $(id -G | tr ' ' '\\n' | sort -n | tr '\\n' ' '); ${end}`;
	const identity = async (rest: Partial<ContainerSpec>): Promise<string> => (await said(id, {image: 'with-users', ...rest})).trim();
	t.is(await identity({}), '1000 1000 1000 2000 3000');
	t.is(await identity({groupsPolicy: 'Strict'}), '1000 1000 1000');
	t.is(await identity({groups: [7], groupsPolicy: 'Strict'}), '1000 1000 7 1000');
	t.is(await identity({runAsGroup: 5, groups: [7]}), '1000 5 5 7 2000 3000');
	t.is(await identity({runAsGroup: 5, groups: [7], groupsPolicy: 'Strict'}), '1000 5 5 7');
	t.is(await identity({runAsUser: 1000, runAsNonRoot: true}), '1000 1000 1000 2000 3000');
	t.is(await identity({runAsUser: 4711}), '4711 0 0');
	t.is(await identity({runAsUser: 4711, groupsPolicy: 'Strict'}), '4711 0 0');
	t.is(await identity({runAsNonRoot: true}), '1000 1000 1000 2000 3000');
	t.regex(await refusal({image: 'as-root', runAsNonRoot: true}), /it would run as root/);
	t.regex(await refusal({image: 'busybox', runAsNonRoot: true}), /it would run as root/);
	t.regex(await refusal({image: 'with-users', runAsUser: 0, runAsNonRoot: true}), /it would run as root/);
});

test('capabilities, new privileges and the root are as the spec says', async t => {
	const {ensure, said} = aNode(t, {allowPrivileged: true});
	await ensure('uid-1');
	const rights = `${status('CapEff')}; ${status('NoNewPrivs')}; touch /x && echo writable; ${end}`;
	const seen = async (rest: Partial<ContainerSpec>): Promise<readonly string[]> => (await said(rights, rest)).trim().split('\n');
	t.deepEqual(await seen({}), ['00000000a80425fb', '1', 'writable'], 'what Docker gives, and no more by any program');
	t.deepEqual(await seen({allowPrivilegeEscalation: true}), ['00000000a80425fb', '0', 'writable']);
	t.deepEqual((await seen({capabilities: {add: [], drop: ['ALL']}}))[0], '0000000000000000');
	t.deepEqual((await seen({capabilities: {add: ['NET_BIND_SERVICE'], drop: ['ALL']}}))[0], '0000000000000400');
	t.deepEqual((await seen({capabilities: {add: ['SYS_TIME'], drop: []}}))[0], '00000000aa0425fb');
	t.deepEqual((await seen({capabilities: {add: [], drop: ['NET_RAW', 'CAP_MKNOD']}}))[0], '00000000a00405fb');
	t.regex((await seen({readOnlyRoot: true}))[2] ?? '', /Read-only file system/);
});

test('what gives a pod the host is refused where the operator has not allowed it', async t => {
	const {ensure, refusal, run} = aNode(t);
	await ensure('uid-1');
	t.regex(await refusal({privileged: true}), /privileged.*--allow-privileged/);
	t.regex(await refusal({capabilities: {add: ['SYS_ADMIN'], drop: []}}), /capability SYS_ADMIN/);
	t.regex(await refusal({seccomp: 'unconfined'}), /Unconfined/);
	for (const member of ['hostNetwork', 'hostPID', 'hostIPC'] as const) {
		const outcome = await run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox('uid-2', {[member]: true})});
		t.regex(outcome.ok ? '' : outcome.error.message, new RegExp(`${member}.*--allow-privileged`));
	}
});

test('limits hold: memory, CPU, processes', async t => {
	const {ensure, exit, said} = aNode(t, {processes: 16});
	await ensure('uid-1');
	// In its first moments an Engine may not see why a program was killed.
	const full = await exit('sleep 1; exec dd if=/dev/zero of=/dev/null bs=200M count=1', {memoryLimitBytes: 16 * 1024 * 1024});
	t.is(full?.reason, 'OOMKilled');
	t.is(full?.exitCode, 137);
	const cgroup = 'cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu/cpu.shares 2>/dev/null || cat /sys/fs/cgroup/cpu.max';
	t.regex(await said(`${cgroup}; ${end}`, {cpuLimitMillis: 9_500, cpuRequestMillis: 500}), /^950000\b/);
	t.is(await said(`cat /sys/fs/cgroup/pids/pids.max 2>/dev/null || cat /sys/fs/cgroup/pids.max; ${end}`), '16\n');
	t.is((await exit('for i in $(seq 20); do sleep 100 & done'))?.reason, 'Error', 'the shell cannot fork any more');
});

test('a pod has its name, its hosts and one localhost; its containers see each other where they are to', async t => {
	const {world, run, value, start, specOf, said} = aNode(t);
	const spec = aSandbox('uid-1', {
		hostname: 'web-1',
		shareProcessNamespace: true,
		hostAliases: [{ip: '10.1.2.3', hostnames: ['db', 'db.local']}],
	});
	const {podIP} = await value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec}));
	await start(specOf('mkdir /www; echo hello > /www/index.html; exec httpd -f -p 8080 -h /www', {}));
	const seen = await said(
		`hostname; cat /etc/hosts; i=0; until printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 127.0.0.1 8080 | grep hello; do sleep 0.1; done; ps; ${end}`,
	);
	t.regex(seen, /^web-1\n/);
	t.regex(seen, /10\.1\.2\.3\s+db\n/);
	t.regex(seen, /10\.1\.2\.3\s+db\.local\n/);
	t.regex(seen, new RegExp(`${podIP}\\s+web-1\\n`));
	t.regex(seen, /\nhello\n/);
	t.regex(seen, /httpd -f -p 8080/);
	t.regex(seen, /1 .*\/infra/);
	t.deepEqual(world.warnings, []);
});

test('volumes are shared, belong to the fsGroup, and are read-only where they are to', async t => {
	const {ensure, volumes, said} = aNode(t);
	await ensure('uid-1');
	await volumes(
		{
			scratch: {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined},
			memory: {type: 'emptyDir', inMemory: true, sizeLimitBytes: 1_048_576},
			config: {type: 'files', files: [{path: 'a/b.conf', mode: 0o644, data: Buffer.from('text\n').toString('base64')}]},
		},
		4242,
	);
	const mounts = [
		mount('scratch', '/data'),
		mount('memory', '/mem'),
		mount('config', '/etc/app'),
		mount('scratch', '/ro', {readOnly: true}),
	];
	const user = {runAsUser: 1234, groups: [4242]};
	t.is(
		await said(`echo one > /data/file; stat -c %g /data/file; cat /etc/app/a/b.conf; grep -c ' /mem tmpfs ' /proc/mounts; ${end}`, {
			mounts,
			...user,
		}),
		'4242\ntext\n1\n',
	);
	const other = await said(`cat /data/file; cat /ro/file; touch /ro/x; touch /etc/app/x; ${end}`, {mounts, ...user});
	t.regex(other, /^one\none\n/);
	t.is(other.match(/Read-only file system/g)?.length, 2);
});

test('a subPath is a part of its volume, and no link of a program leads it out', async t => {
	const outside = mkdtempSync('/tmp/troupe-outside-');
	t.teardown(() => rmSync(outside, {recursive: true, force: true}));
	writeFileSync(path.join(outside, 'secret'), 'secret');
	const {world, ensure, volumes, said, refusal} = aNode(t);
	await ensure('uid-1');
	await volumes({v: {type: 'emptyDir', inMemory: false, sizeLimitBytes: undefined}});
	const inVolume = path.join(world.directory, 'uid-1/.volumes/v/data');
	t.is(await said(`echo mine > /sub/file; ${end}`, {mounts: [mount('v', '/sub', {subPath: 'a/b'})]}), '');
	t.is(readFileSync(path.join(inVolume, 'a/b/file'), 'utf8'), 'mine\n');
	t.is(await said(`cat /file; ${end}`, {mounts: [mount('v', '/file', {subPath: 'a/b/file'})]}), 'mine\n');
	symlinkSync(outside, path.join(inVolume, 'link'));
	t.regex(await refusal({mounts: [mount('v', '/x', {subPath: 'link'})]}), /leads out of the volume/);
	t.regex(await refusal({mounts: [mount('v', '/x', {subPath: '../..'})]}), /must lead down/);
});

test('a hostPath is what the operator allows', async t => {
	const folder = mkdtempSync('/tmp/troupe-host-');
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	writeFileSync(path.join(folder, 'file'), 'of the host\n');
	const {ensure, volumes, said, run} = aNode(t, {hostPaths: {allowed: [folder], never: []}});
	await ensure('uid-1');
	await volumes({host: {type: 'hostPath', path: folder, check: 'Directory'}});
	t.is(await said(`cat /host/file; ${end}`, {mounts: [mount('host', '/host')]}), 'of the host\n');
	const source = {type: 'hostPath', path: '/etc', check: ''} as const;
	const outcome = await run({
		type: 'volumes.ensure',
		uid: 'uid-1',
		namespace: 'default',
		volumes: [{name: 'etc', source}],
		fsGroup: undefined,
	});
	t.regex(outcome.ok ? '' : outcome.error.message, /not allowed on this node/);
});

test('the socket and the folders of the Engine are lent to no pod, where every hostPath is allowed, too; but where containers may be privileged', async t => {
	for (const allowPrivileged of [false, true]) {
		const {ensure, run} = aNode(t, {hostPaths: {allowed: 'all', never: []}, allowPrivileged});
		await ensure('uid-1');
		for (const place of ['s', 'data', 'data/containers']) {
			const source = {type: 'hostPath', path: path.resolve(dockerd().folder, place), check: ''} as const;
			const outcome = await run({
				type: 'volumes.ensure',
				uid: 'uid-1',
				namespace: 'default',
				volumes: [{name: 'engine', source}],
				fsGroup: undefined,
			});
			if (allowPrivileged) t.deepEqual(outcome, {ok: true, value: null}, place);
			else t.regex(outcome.ok ? '' : outcome.error.message, /belongs to the container engine of this node/, place);
		}
	}
});

test('a port of the host leads to another one of the pod', async t => {
	const {run, value, start, specOf} = aNode(t);
	const hostPorts = [{containerPort: 8080, hostPort: 18_080, hostIP: undefined, protocol: 'TCP'}] as const;
	await value(run<'sandbox.ensure'>({type: 'sandbox.ensure', spec: aSandbox('uid-1', {hostPorts})}));
	await start(specOf('mkdir /www; echo hello > /www/index.html; exec httpd -f -p 8080 -h /www', {}));
	let answer = '';
	await until('the port answers', async () => {
		answer = await dockerd()
			.inNamespace('sh', '-c', "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 2 127.0.0.1 18080")
			.catch(() => '');
		return answer !== '';
	});
	t.regex(answer, /^HTTP\/1\.[01] 200 [\s\S]*\r\nhello\n$/);
});

test('what the image runs by itself gets the arguments; a word that is no program is a reason', async t => {
	const folder = mkdtempSync('/tmp/troupe-image-');
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	writeFileSync(
		path.join(folder, 'Dockerfile'),
		'FROM busybox\nWORKDIR /work\nENV FROM=image\nENTRYPOINT ["sh","-c","echo $FROM $0 $PWD; echo --end--; sleep 1000"]\n',
	);
	await dockerd().docker('build', '-q', '-t', 'with-entrypoint', folder);
	const {ensure, start, specOf, refusal, run} = aNode(t);
	await ensure('uid-1');
	const {handle} = await start({
		...specOf('', {image: 'with-entrypoint', env: [{name: 'MORE', value: 'x'}]}),
		argv: ['word'],
		argsOnly: true,
	});
	const id = handle.slice('docker://'.length);
	await until('it has spoken', async () => (await dockerd().docker('logs', id)).includes('--end--'));
	t.regex(await dockerd().docker('logs', id), /^image word \/work\n/);
	t.regex(await refusal({argv: ['no-such-program']}), /"no-such-program": executable file not found/);
	t.regex(await refusal({image: 'no-such-image'}), /No such image/);
	await dockerd()
		.docker('import', '/dev/null', 'empty')
		.catch(() => undefined);
	const outcome = await run<'container.start'>({
		type: 'container.start',
		spec: {...specOf('', {image: 'busybox'}), argv: [], workingDir: '/tmp'},
	});
	t.true(outcome.ok);
});

test('a device is asked of the Engine as docker run --gpus does, and one that has none for containers says so', async t => {
	const {ensure, refusal, world, said} = aNode(t);
	await ensure('uid-1');
	const devices = {own: [{file: '/dev/nvidia0', index: 0, uuid: 'GPU-0'}], others: []};
	t.regex(
		await refusal({gpus: {first: 0, count: 1}, devices}),
		/^container "c0" was not started: .*could not select device driver "nvidia" with capabilities: \[\[gpu\]\]/,
	);
	await until('nothing of it is left but the sandbox', async () => (await world.left()).length === 1);
	t.is(await said('echo "$NVIDIA_VISIBLE_DEVICES"; echo --end--', {devices: {own: [], others: ['/dev/nvidia0']}}), 'void\n');
});
