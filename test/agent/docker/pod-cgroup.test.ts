import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {valueOr} from '../../../api/value-or.js';
import {
	cgroupParentOf,
	endGroups,
	groupFolders,
	killBelow,
	processesBelow,
	removeGroups,
	reopen,
	strikeText,
} from '../../../agent/docker/cgroups/pod-cgroup.js';
import {startWatchdog, uptimeHundredths, writeLeaseRecord} from '../../../agent/leases/watchdog.js';
import {readBootId} from '../../../agent/os/identity.js';
import {readMountinfo} from '../../../agent/os/mountinfo.js';
import {eventually} from '../../../bench/rigs/cluster/waiting.js';
import {systemClock} from '../../../system/time/clock.js';
import {needing} from '../../_needing.js';

const trial = groupFolders(`/troupe-trial-${process.pid}`, readMountinfo());
const works = trial.length > 0 && valueOr(false, () => trial.every(folder => mkdirSync(folder, {recursive: true}) !== ''));
await removeGroups(trial);
const withGroups = needing(works, 'needs control groups that this user may make');

const mountinfo = `30 22 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
31 22 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
32 22 0:28 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 22 0:27 / /mnt/again rw - cgroup cgroup rw,cpu,cpuacct
34 22 0:30 / /proc rw - proc proc rw
`;

test('a group of a pod is a path for an Engine with cgroupfs, and a slice below slices for one with systemd', t => {
	t.is(cgroupParentOf('cgroupfs', 'a1', 'u-1'), '/troupe-a1/u-1');
	t.is(cgroupParentOf('systemd', 'a1', 'u-1'), 'troupe-a1-u_1.slice');
	t.deepEqual(groupFolders('/troupe-a1/u-1', mountinfo), ['/sys/fs/cgroup/unified/troupe-a1/u-1', '/mnt/again/troupe-a1/u-1']);
	t.deepEqual(groupFolders('troupe-a1-u_1.slice', mountinfo), [
		'/sys/fs/cgroup/unified/troupe.slice/troupe-a1.slice/troupe-a1-u_1.slice',
		'/mnt/again/troupe.slice/troupe-a1.slice/troupe-a1-u_1.slice',
	]);
});

/** A shell in a group of a container, which begins two others, one of them in a group below its own. */
async function aPod(t: ExecutionContext, name: string) {
	const folders = groupFolders(cgroupParentOf('cgroupfs', `test-${process.pid}`, name), readMountinfo());
	const container = folders.map(folder => path.join(folder, 'c1'));
	for (const group of container) mkdirSync(path.join(group, 'nested'), {recursive: true});
	// cpuset takes no process before it has processors and memory.
	for (const group of folders.flatMap(folder => [path.dirname(folder), folder, path.join(folder, 'c1'), path.join(folder, 'c1/nested')]))
		for (const file of ['cpuset.cpus', 'cpuset.mems'])
			if (existsSync(path.join(group, file))) writeFileSync(path.join(group, file), readFileSync(path.join(path.dirname(group), file)));
	const join = 'for g in "$@"; do echo 0 >"$g/cgroup.procs"; done';
	const child = spawn('sh', [
		'-c',
		`${join}; sleep 1000 & (for g in "$@"; do echo 0 >"$g/nested/cgroup.procs"; done; sleep 1000) & wait`,
		'sh',
		...container,
	]);
	const gone = new Promise(resolve => child.once('exit', (_code, signal) => resolve(signal)));
	t.teardown(async () => {
		await eventually('nothing is left', () => killBelow(folders));
		await removeGroups([...folders, ...new Set(folders.map(folder => path.dirname(folder)))]);
	});
	await eventually('all of it runs', () => processesBelow(folders).length === 3);
	return {folders, gone};
}

withGroups('all below the group of a pod is found, killed and removed, and then begins again', async t => {
	const {folders, gone} = await aPod(t, 'u1');
	t.false(killBelow(folders));
	t.is(await gone, 'SIGKILL');
	await eventually('it is empty', () => killBelow(folders));
	t.deepEqual(processesBelow(folders), []);
	const most = (): string[] =>
		folders
			.map(folder => path.join(folder, 'pids.max'))
			.filter(existsSync)
			.map(file => readFileSync(file, 'utf8'));
	t.true(most().every(text => text === '0\n'));
	reopen(folders);
	t.true(most().every(text => text === 'max\n'));
	await removeGroups(folders);
	t.deepEqual(folders.filter(existsSync), []);
});

withGroups('what is left where no container is any more ends, and the groups are gone', async t => {
	const {folders, gone} = await aPod(t, 'u4');
	await endGroups(folders, systemClock);
	t.is(await gone, 'SIGKILL');
	t.deepEqual(folders.filter(existsSync), []);
});

withGroups('a watchdog kills all below the groups that it was told of, and opens them again', async t => {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-strike-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const {folders, gone} = await aPod(t, 'u2');
	const other = await aPod(t, 'u3');
	let ended = false;
	const deadline = uptimeHundredths() + 100;
	const watchdog = startWatchdog(folder, deadline, () => (ended = true), {text: strikeText, words: folders});
	writeLeaseRecord(folder, deadline, readBootId(), [watchdog]);
	t.is(await gone, 'SIGKILL');
	t.true(uptimeHundredths() >= deadline);
	await eventually('the watchdog goes', () => ended);
	t.deepEqual(processesBelow(folders), []);
	for (const each of folders.map(group => path.join(group, 'pids.max')).filter(existsSync)) t.is(readFileSync(each, 'utf8'), 'max\n');
	t.true(processesBelow(other.folders).length === 3, 'another pod is another group');
});

test('a watchdog of groups that are not there goes when it has struck', async t => {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-strike-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	let ended = false;
	startWatchdog(folder, uptimeHundredths(), () => (ended = true), {text: strikeText, words: [path.join(folder, 'none')]});
	await eventually('the watchdog goes', () => ended);
	t.true(ended);
});
