// One Docker Engine for the tests of a file.
//
// With ENGINE=podman each of them runs against Podman instead, by hand: `ENGINE=podman npx ava --serial --config ava.real.config.js ...`. What
// differs there is said in docs/docker.md, and fails.

import {existsSync} from 'node:fs';
import type {TestFn} from 'ava';
import type {Owner} from '../../bench/rigs/owner.js';
import {startDockerd, type Dockerd, type DockerdOptions} from '../../bench/rigs/servers/dockerd.js';
import {startPodman} from '../../bench/rigs/servers/podman.js';

/** Started before the first test, gone after the last. */
export const sharedDockerd = (test: TestFn, options: DockerdOptions = {}): (() => Dockerd) =>
	process.env['ENGINE'] === 'podman' ? sharedPodman(test) : shared(test, 'dockerd', owner => startDockerd(owner, options));

export const sharedPodman = (test: TestFn): (() => Dockerd) => shared(test, 'podman', startPodman);

function shared(test: TestFn, name: string, start: (owner: Owner) => Promise<Dockerd>): () => Dockerd {
	const releases: (() => void | Promise<void>)[] = [];
	let engine: Dockerd | undefined;
	test.before(`${name} starts`, async t => {
		engine = await start({teardown: release => void releases.unshift(release)});
		t.regex(await engine.docker('version'), /Server:/);
	});
	test.after.always(`${name} ends, and nothing of it is left`, async t => {
		for (const release of releases) await release();
		t.false(existsSync(engine?.folder ?? ''));
	});
	return () => {
		if (engine === undefined) throw new Error(`${name} is started before the first test`);
		return engine;
	};
}
