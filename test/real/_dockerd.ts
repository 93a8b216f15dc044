// One Docker Engine for the tests of a file.

import {existsSync} from 'node:fs';
import type {TestFn} from 'ava';
import {startDockerd, type Dockerd, type DockerdOptions} from '../../bench/rigs/servers/dockerd.js';

/** Started before the first test, gone after the last. */
export function sharedDockerd(test: TestFn, options: DockerdOptions = {}): () => Dockerd {
	const releases: (() => void | Promise<void>)[] = [];
	let dockerd: Dockerd | undefined;
	test.before('dockerd starts', async t => {
		dockerd = await startDockerd({teardown: release => void releases.unshift(release)}, options);
		t.regex(await dockerd.docker('version'), /Server:/);
	});
	test.after.always('dockerd ends, and nothing of it is left', async t => {
		for (const release of releases) await release();
		t.false(existsSync(dockerd?.folder ?? ''));
	});
	return () => {
		if (dockerd === undefined) throw new Error('dockerd is started before the first test');
		return dockerd;
	};
}
