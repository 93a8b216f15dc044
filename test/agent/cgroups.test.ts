import test from 'ava';
import {candidates, settings} from '../../agent/process/cgroups/cgroups.js';

const mountinfo = `22 28 0:20 / /proc rw shared:1 - proc proc rw
30 22 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
31 22 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
32 22 0:28 /docker/1 /sys/fs/my\\040cgroup/memory rw - cgroup cgroup rw,memory
33 22 0:29 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd
`;
const cgroup = '4:memory:/docker/1\n1:cpu,cpuacct:/\n0::/user.slice/me\n';

test('root may try the top of each tree, others what was delegated to them', t => {
	const v1 = [
		{version: 1, folder: '/sys/fs/cgroup/cpu,cpuacct', controllers: ['cpu']},
		{version: 1, folder: '/sys/fs/my cgroup/memory', controllers: ['memory']},
		{version: 1, folder: '/sys/fs/cgroup/systemd', controllers: []},
	] as const;
	const own = {version: 2, folder: '/sys/fs/cgroup/unified/user.slice/me', controllers: []} as const;
	t.deepEqual(candidates({mountinfo, cgroup, isRoot: false}), [own, ...v1]);
	t.deepEqual(candidates({mountinfo, cgroup, isRoot: true}), [{...own, folder: '/sys/fs/cgroup/unified'}, own, ...v1]);
});

const none = {memoryLimitBytes: undefined, cpuLimitMillis: undefined, cpuRequestMillis: undefined};
const all = {memoryLimitBytes: 64_000_000, cpuLimitMillis: 250, cpuRequestMillis: 100};

test('version 1 takes limits as bytes, quotas and shares', t => {
	t.deepEqual(settings({version: 1, controllers: ['memory']}, all), [
		{file: 'memory.limit_in_bytes', text: '64000000'},
		{file: 'memory.memsw.limit_in_bytes', text: '64000000', isOptional: true},
	]);
	t.deepEqual(settings({version: 1, controllers: ['cpu']}, all), [
		{file: 'cpu.cfs_period_us', text: '100000'},
		{file: 'cpu.cfs_quota_us', text: '25000'},
		{file: 'cpu.shares', text: '102'},
	]);
	t.deepEqual(settings({version: 1, controllers: ['pids']}, all), []);
	for (const version of [1, 2] as const)
		t.deepEqual(settings({version, controllers: ['pids']}, {...all, processes: 9}), [{file: 'pids.max', text: '9'}]);
	t.deepEqual(settings({version: 1, controllers: ['memory', 'cpu']}, none), []);
});

test('version 2 takes limits as bytes, quotas and weights, and ends a container as a whole', t => {
	t.deepEqual(settings({version: 2, controllers: ['cpu', 'memory', 'pids']}, all), [
		{file: 'memory.max', text: '64000000'},
		{file: 'memory.swap.max', text: '0', isOptional: true},
		{file: 'memory.oom.group', text: '1', isOptional: true},
		{file: 'cpu.max', text: '25000 100000'},
		{file: 'cpu.weight', text: '4'},
	]);
	t.deepEqual(settings({version: 2, controllers: []}, all), []);
});

test('what is too small or too large for the kernel is brought into its bounds', t => {
	const texts = (version: 1 | 2, cpuLimitMillis: number, cpuRequestMillis: number): string[] =>
		settings({version, controllers: ['cpu']}, {...none, cpuLimitMillis, cpuRequestMillis}).map(({text}) => text);
	t.deepEqual(texts(1, 1, 0), ['100000', '1000', '2']);
	t.deepEqual(texts(2, 1, 0), ['1000 100000', '1']);
	t.deepEqual(texts(2, 64_000, 1_000_000), ['6400000 100000', '10000']);
});
