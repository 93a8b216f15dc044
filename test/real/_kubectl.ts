// The real kubectl with the kubeconfig that a whole real cluster writes. Where there is no kubectl, that is said in capitals.

import {spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openHome, type Home, type Ran, type Started} from '../e2e/_rig.js';

export const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
if (!hasKubectl) process.stdout.write('KUBECTL IS MISSING: ITS TESTS ARE SKIPPED\n');
/** A test that needs kubectl. */
export const real = hasKubectl ? test : test.skip;
/** One of several that share the cluster of their file. */
export const realInTurn = hasKubectl ? test.serial : test.serial.skip;

/** A cluster of the test's own, and kubectl for it. */
export async function withKubectl(t: ExecutionContext, ...flags: readonly string[]) {
	const cluster = openHome(t);
	await cluster.up(...flags);
	return {cluster, ...kubectlFor(cluster)};
}

export function kubectlFor({home, startProgram}: Home) {
	/** Gives the command this text as its input. */
	const startWith = (input: string, ...args: readonly string[]): Started =>
		startProgram('kubectl', args, {KUBECONFIG: path.join(home, 'kubeconfig')}, input);
	const start = (...args: readonly string[]): Started => startWith('', ...args);
	const kubectl = (...args: readonly string[]): Promise<Ran> => start(...args).ended;
	return {
		startWith,
		start,
		kubectl,
		/** Runs a command that must succeed; its output. */
		fine: async (...args: readonly string[]): Promise<string> => {
			const {code, out, err} = await kubectl(...args);
			if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${err}${out}`);
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
