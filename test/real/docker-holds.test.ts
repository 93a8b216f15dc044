// What is held for a start is taken away without a trace, also what other mounts are below.

import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openHolds, sweepHolds} from '../../agent/docker/containers/binds.js';
import {readMountinfo, mountsIn} from '../../agent/os/mountinfo.js';
import {runTool} from '../../agent/os/tools.js';

/** A file system that is shared, as systemd makes all of a host's, and one below it. */
async function sharedMounts(t: ExecutionContext) {
	const folder = mkdtempSync(path.join(tmpdir(), 'troupe-holds-'));
	const [outer, inner, home] = [path.join(folder, 'outer'), path.join(folder, 'outer/inner'), path.join(folder, 'home')];
	t.teardown(async () => {
		await runTool('umount', ['-l', outer]);
		rmSync(folder, {recursive: true});
	});
	for (const each of [outer, home]) mkdirSync(each);
	await runTool('mount', ['-t', 'tmpfs', 'none', outer]);
	await runTool('mount', ['--make-shared', outer]);
	mkdirSync(inner);
	await runTool('mount', ['-t', 'tmpfs', 'none', inner]);
	return {outer, inner, home};
}

const isMounted = (place: string): boolean => mountsIn(readMountinfo()).some(({point}) => point === place);

test('what is mounted below a folder of the host stays when a container that had it has started', async t => {
	const {outer, inner, home} = await sharedMounts(t);
	const {hold} = openHolds(home, message => t.fail(message));
	const {path: held, release} = await hold(outer, true);
	t.true(isMounted(path.join(held, 'inner')));
	await release();
	t.false(isMounted(held));
	t.true(isMounted(inner));
});

test('so it does when the agent died right after it had mounted it', async t => {
	const {outer, inner, home} = await sharedMounts(t);
	const left = path.join(home, '.binds/0');
	mkdirSync(left, {recursive: true});
	await runTool('mount', ['--rbind', outer, left]);
	await sweepHolds(home);
	t.false(isMounted(left));
	t.true(isMounted(inner));
});
