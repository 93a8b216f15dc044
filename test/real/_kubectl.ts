// The real kubectl with the kubeconfig that a whole real cluster writes. Where there is no kubectl, that is said in capitals.

import {spawn, spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {follow, openHome, type Home, type Started} from '../e2e/_rig.js';

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!hasKubectl) process.stdout.write('KUBECTL IS MISSING: ITS TESTS ARE SKIPPED\n');
/** A test that needs kubectl. */
export const real = hasKubectl ? test : test.skip;

export async function withKubectl(t: ExecutionContext) {
	const cluster = openHome(t);
	await cluster.up();
	const start = (...args: readonly string[]): Started => {
		const env = {PATH: process.env['PATH'], HOME: cluster.folder, KUBECONFIG: `${cluster.home}/kubeconfig`};
		const child = spawn('kubectl', args, {env});
		t.teardown(() => child.kill('SIGKILL'));
		return follow(child, '');
	};
	return {
		cluster,
		start,
		kubectl: (...args: readonly string[]) => start(...args).ended,
		/** Runs a command that must succeed; its output. */
		fine: async (...args: readonly string[]): Promise<string> => {
			const {code, out, err} = await start(...args).ended;
			t.is(code, 0, `kubectl ${args.join(' ')}: ${err}${out}`);
			return out;
		},
	};
}

/** A file with the manifest of an object. */
export function manifest({folder}: Home, object: object): string {
	const file = path.join(folder, 'manifest.json');
	writeFileSync(file, JSON.stringify(object));
	return file;
}
