// Figures of the processor and of memory are read as the kernel writes them; whatever else stands there is no figure.

import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {cpuNanosInV1, cpuNanosInV2, diskBytesInV1, diskBytesInV2, workingSetBytes} from '../../agent/usage/cgroup-figures.js';
import {figuresOf, groupsOf} from '../../agent/usage/group-files.js';
import {hostBytes, hostNanos, processBytes, processDisks, processNanos} from '../../agent/usage/proc-figures.js';
import {allFiguresOfProcesses, disksOfProcesses, figuresOfProcesses} from '../../agent/usage/process-figures.js';
import {processesOf, readProcessTable} from '../../agent/usage/process-table.js';
import {takeSample, type Measured} from '../../agent/usage/sample.js';
import {readSmall} from '../../agent/usage/small-file.js';
import {hostDisks, hostTraffic, trafficOf} from '../../agent/usage/traffic-figures.js';
import type {MountEntry} from '../../agent/os/mountinfo.js';
import {systemClock, type Clock} from '../../system/time/clock.js';

const rubbish = [
	'',
	'\n',
	'max',
	'-1',
	'1.5',
	'1e3',
	'0x10',
	'12 34',
	'usage_usec',
	'usage_usec \nx 1',
	' '.repeat(100_000),
	'9'.repeat(100_000),
];

test('time of processors is read from both versions, in nanoseconds', t => {
	t.is(cpuNanosInV1('123456789012\n'), 123_456_789_012);
	t.is(cpuNanosInV2('usage_usec 5000001\nuser_usec 3000000\nsystem_usec 2000001\n'), 5_000_001_000);
	t.is(cpuNanosInV2('user_usec 1\nnr_usage_usec 7\nusage_usec 2'), 2_000, 'whatever the order of its lines');
	for (const text of rubbish) {
		t.is(cpuNanosInV1(text), undefined, text.slice(0, 20));
		t.is(cpuNanosInV2(text), undefined, text.slice(0, 20));
	}
});

test('the working set is what is used without pages of files that were not used lately', t => {
	const v1 = 'cache 9\ninactive_file 1\nactive_file 2\ntotal_inactive_file 4096\n';
	t.is(workingSetBytes('10240\n', v1, 1), 6_144);
	t.is(workingSetBytes('10240\n', 'anon 3\ninactive_file 10000\n', 2), 240);
	t.is(workingSetBytes('100\n', 'inactive_file 4096\n', 2), 0, 'the files are read one after the other');
	t.is(workingSetBytes('10240\n', 'inactive_file 1\n', 1), undefined, 'version 1 has it with the groups below');
	for (const text of rubbish) {
		t.is(workingSetBytes(text, v1, 1), undefined, text.slice(0, 20));
		t.is(workingSetBytes('1', text, 2), undefined, text.slice(0, 20));
	}
});

test('of processes and hosts it is read from /proc', t => {
	const stat = '42 (a) (b c) S 1 42 42 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 1 0 12345 0 0';
	t.is(processNanos(stat), (11 + 22 + 33 + 44) * 10_000_000);
	t.is(processBytes('Name:\tx\nVmRSS:\t  999 kB\nRssAnon:\t    1234 kB\nRssFile:\t 7 kB\n'), 1_234 * 1_024);
	t.is(hostNanos('cpu  1 2 4 1000 2000 8 16 32 64 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n'), (1 + 2 + 4 + 8 + 16 + 32) * 10_000_000);
	t.is(hostBytes('MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    400 kB\n'), 600 * 1_024);
	for (const text of [...rubbish, '42 (x', '42 (x) S 1 2 3', 'cpu  1 2 3', 'cpu  a b c d e f g h', 'RssAnon:\tmany kB', 'MemTotal: 1 kB'])
		for (const read of [processNanos, processBytes, hostNanos, hostBytes]) t.is(read(text), undefined, text.slice(0, 20));
});

const mount = (point: string, type: string, options: string, root = '/'): MountEntry => ({device: point, root, point, type, options});

const mounts = [
	mount('/sys/fs/cgroup/cpu,cpuacct', 'cgroup', 'rw,cpu,cpuacct'),
	mount('/sys/fs/cgroup/memory', 'cgroup', 'rw,memory'),
	mount('/sys/fs/cgroup/blkio', 'cgroup', 'rw,blkio'),
	mount('/sys/fs/cgroup/unified', 'cgroup2', 'rw'),
];

test('the groups of a process are found in the trees of version 1, else in that of version 2', t => {
	t.deepEqual(groupsOf('9:memory:/a/id1\n3:cpu,cpuacct:/b/id1\n2:blkio:/e/id1\n1:name=systemd:/c/id1\n0::/d/id1\n', mounts, 'id1'), {
		cpu: {version: 1, folder: '/sys/fs/cgroup/cpu,cpuacct/b/id1'},
		memory: {version: 1, folder: '/sys/fs/cgroup/memory/a/id1'},
		disk: {version: 1, folder: '/sys/fs/cgroup/blkio/e/id1'},
	});
	const unified = {version: 2, folder: '/sys/fs/cgroup/unified/d.slice/docker-id1.scope'} as const;
	t.deepEqual(groupsOf('0::/d.slice/docker-id1.scope\n', mounts, 'id1'), {cpu: unified, memory: unified, disk: unified});
	t.deepEqual(
		groupsOf('0::/inner/x/id1\n', [mount('/mine', 'cgroup2', 'rw', '/inner')], 'id1').cpu,
		{version: 2, folder: '/mine/x/id1'},
		'where a part of the tree is mounted',
	);
});

test('a group of another container, or one that is not to be seen from here, is not taken', t => {
	const none = {cpu: undefined, memory: undefined, disk: undefined};
	t.deepEqual(groupsOf('9:memory:/a/id2\n3:cpu,cpuacct:/b\n', mounts, 'id1'), none, 'a pid that is another program by now');
	t.deepEqual(groupsOf('0::/../../other/id1\n', mounts, 'id1'), none, 'above the namespace of this process');
	t.deepEqual(groupsOf('0::/outer/id1\n', [mount('/mine', 'cgroup2', 'rw', '/inner')], 'id1'), none);
	t.deepEqual(groupsOf('0::/x/id1\n', [], 'id1'), none);
	for (const text of rubbish) t.deepEqual(groupsOf(text, mounts, 'id1'), none);
});

/** A folder with these files, removed with the test. */
function filesOf(t: {teardown: (clean: () => void) => void}, files: Readonly<Record<string, string>>): string {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-usage-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
	return folder;
}

test('figures are read from the files of a group; of what is not there, or has no bound, there is none', t => {
	const v1 = filesOf(t, {'cpuacct.usage': '7\n', 'memory.usage_in_bytes': '9\n', 'memory.stat': 'total_inactive_file 4\n'});
	const v2 = filesOf(t, {'cpu.stat': 'usage_usec 3\n', 'memory.current': '9\n', 'memory.stat': 'inactive_file 2\n'});
	const both = (version: 1 | 2, folder: string) => figuresOf({cpu: {version, folder}, memory: {version, folder}});
	t.deepEqual(both(1, v1), {cpuNanos: 7, memoryBytes: 5});
	t.deepEqual(both(2, v2), {cpuNanos: 3_000, memoryBytes: 7});
	const none = {cpuNanos: undefined, memoryBytes: undefined};
	t.deepEqual(both(1, v2), none);
	t.deepEqual(both(2, path.join(v2, 'gone')), none);
	t.deepEqual(figuresOf({cpu: undefined, memory: undefined}), none);
	const huge = filesOf(t, {'cpu.stat': `usage_usec 3\n${'x'.repeat(limits.usageFileBytes)}`});
	t.is(both(2, huge).cpuNanos, undefined);
	mkdirSync(path.join(huge, 'folder'));
	t.is(readSmall(path.join(huge, 'folder')), undefined);
	t.is(readSmall('/dev/zero'), undefined, 'it ends at the bound');
});

test('this very process has figures, one that is gone has none, and of very many nothing is summed', t => {
	const {cpuNanos = 0, memoryBytes = 0} = figuresOfProcesses([process.pid]);
	t.true(cpuNanos > 0);
	t.true(memoryBytes > 1_048_576);
	t.deepEqual(figuresOfProcesses([process.pid, 2 ** 30]).memoryBytes === undefined, false);
	for (const pids of [[], [2 ** 30], Array.from({length: limits.usageProcesses + 1}, () => process.pid)])
		t.deepEqual(figuresOfProcesses(pids), {cpuNanos: undefined, memoryBytes: undefined});
});

test('without control groups the processes of a container are those in the group of its shim, and all below these', async t => {
	const program = {pid: 10, state: 'S', group: 9, startTime: 1};
	const found = processesOf(program, {
		groups: new Map([
			[9, [9, 10, 11, 14]],
			[12, [12]],
			[20, [20]],
		]),
		children: new Map([
			[1, [9, 14, 20]],
			[9, [10]],
			[10, [11, 12]],
			[12, [13]],
			[20, [21]],
		]),
	});
	t.deepEqual([...found].sort(), [10, 11, 12, 13, 14], 'with 14, whose parent has ended, and 12, which leads a session of its own');
	t.deepEqual(
		processesOf(program, {
			groups: new Map(),
			children: new Map([
				[10, [11]],
				[11, [10]],
			]),
		}),
		[10, 11],
		'read while they change',
	);
	const many = Array.from({length: 2 * limits.usageProcesses}, (_, index) => 100 + index);
	const ofMany = processesOf(program, {groups: new Map(), children: new Map([[10, many]])});
	t.is(ofMany.length, limits.usageProcesses + 1);
	t.deepEqual(allFiguresOfProcesses(ofMany), {cpuNanos: undefined, memoryBytes: undefined});

	const table = await readProcessTable(systemClock);
	t.true(table.children.get(process.ppid)?.includes(process.pid));
	t.true([...table.groups.values()].flat().includes(process.pid));
});

test('a sample has the host and all containers up to a bound, and lets other work between however long each takes', async t => {
	let atMonotonicMs = 0;
	const clock: Clock = {...systemClock, monotonicMs: () => atMonotonicMs};
	const one = (index: number): Measured => ({
		id: {uid: 'uid-1', container: `c${index}`},
		attempt: 0,
		read() {
			atMonotonicMs++;
			return {cpuNanos: index, memoryBytes: undefined};
		},
	});
	let turns = 0;
	const count = (): void => {
		turns++;
		again = setImmediate(count);
	};
	let again = setImmediate(count);
	const many = Array.from({length: limits.usageContainers + 1}, (_, index) => one(index));
	const {atMs, node, containers} = await takeSample(many, clock);
	clearImmediate(again);
	t.is(containers.length, limits.usageContainers);
	t.like(containers[3], {id: {uid: 'uid-1', container: 'c3'}, attempt: 0, cpuNanos: 3});
	t.true(turns >= limits.usageContainers / limits.usageTurnMs / 2, `${turns}`);
	t.true(Math.abs(atMs - systemClock.nowMs()) < 60_000);
	t.true((node.cpuNanos ?? 0) > 0 && (node.memoryBytes ?? 0) > 0);
});

test('bytes of disks are read from both versions, of processes and of the host; of the host each disk counts once', t => {
	const v1 = '8:0 Read 100\n8:0 Write 20\n8:0 Sync 7\n8:16 Read 1\n8:16 Write 2\nTotal 123\n';
	t.deepEqual(diskBytesInV1(v1), {readBytes: 101, writtenBytes: 22});
	t.deepEqual(diskBytesInV2('8:0 rbytes=5 wbytes=6 rios=1 wios=1 dbytes=9 dios=0\n8:16 rbytes=10 wbytes=0\n'), {
		readBytes: 15,
		writtenBytes: 6,
	});
	t.deepEqual(processDisks('rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 1\n'), {
		readBytes: 4_096,
		writtenBytes: 8_192,
	});
	const disks = [
		'   8       0 sda 10 0 100 0 20 0 200 0 0 0 0',
		'   8       1 sda1 10 0 100 0 20 0 200 0 0 0 0',
		' 253       0 dm-0 10 0 100 0 20 0 200 0 0 0 0',
		' 259       0 nvme0n1 1 0 1 0 1 0 2 0 0 0 0',
	].join('\n');
	t.deepEqual(hostDisks(disks), {readBytes: 101 * 512, writtenBytes: 202 * 512});
	for (const text of rubbish) {
		t.deepEqual(diskBytesInV1(text), {readBytes: 0, writtenBytes: 0});
		t.deepEqual(diskBytesInV2(text), {readBytes: 0, writtenBytes: 0});
		t.is(processDisks(text), undefined);
		t.is(hostDisks(text), undefined);
	}
	t.deepEqual(disksOfProcesses([]), {});
	t.deepEqual(disksOfProcesses(Array.from({length: limits.usageProcesses + 1}, () => process.pid)), {});
	const {readBytes = -1, writtenBytes = -1} = disksOfProcesses([process.pid]);
	t.true(readBytes >= 0 && writtenBytes >= 0);
});

test('bytes over the network are those of interfaces that lead out of the host, and of a pod those of its cable, the other way round', async t => {
	const dev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000 1 0 0 0 0 0 0 1000 1 0 0 0 0 0 0
  eth0: 500 1 0 0 0 0 0 0 70 1 0 0 0 0 0 0
troupe1a2b-0007:30 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0
`;
	const interfaces = trafficOf(dev);
	t.deepEqual(hostTraffic(interfaces), {receivedBytes: 500, sentBytes: 70});
	t.deepEqual(interfaces.get('troupe1a2b-0007'), {receivedBytes: 30, sentBytes: 40});
	for (const text of rubbish) t.is(hostTraffic(trafficOf(text)), undefined);
	const own = trafficOf(readSmall('/proc/net/dev') ?? '').get('lo');
	const {traffic} = await takeSample([], systemClock, {
		links: new Map([
			['a', 'lo'],
			['b', 'none'],
		]),
	});
	t.deepEqual(
		traffic?.map(({uid}) => uid),
		['a'],
	);
	t.true((traffic?.[0]?.receivedBytes ?? -1) >= (own?.sentBytes ?? 0));
});
