// The start of a container whose program waits behind a gate: of an exclusive pod, or of one whose sandbox was made before the pod was known.

import {AppError} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import type {OpenedSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {Inspected} from '../engine/calls.js';
import type {Engine} from '../engine/engine.js';
import type {Gates} from '../gates/gates.js';
import {gateFifoPath, gatePath} from '../programs/gate.js';
import type {CreateOptions} from '../sandboxes/infra-options.js';

/** Why a container needs a gate. */
export type Gate = {
	readonly gates: Gates;
	/** What it is to be called; undefined: the Engine has done that. */
	readonly hostname: string | undefined;
	/** The last look before that process becomes the program. Throws an Error when it may not. */
	readonly mayRun: (pid: number) => void;
};

/** What its program is called with: the image's own words where the spec has none. Rejects with EngineErrors, and an AppError where there are none. */
export async function argvOf(engine: Engine, {id, argv, argsOnly, image, imageId}: OpenedSpec): Promise<readonly string[]> {
	if (argv.length > 0 && argsOnly !== true) return argv;
	const {Config} = await engine.call('look at an image', limits.engineAnswerMs, docker => docker.getImage(imageId ?? image).inspect());
	const words = [Config.Entrypoint ?? [], argv.length > 0 ? argv : (Config.Cmd ?? [])].flat();
	if (words.length === 0) throw new AppError('ERR_NO_COMMAND', {container: id.container, image, isOfImage: true});
	return words;
}

/** The same container with the gate in the place of its program. */
export function gatedOptions(options: CreateOptions, {gates, hostname}: Gate, fifo: string, argv: readonly string[]): CreateOptions {
	const seen = (source: string, target: string) => ({Type: 'bind' as const, Source: source, Target: target, ReadOnly: true});
	const env = options.Env ?? [];
	const isNamed = hostname === undefined || env.some(each => each.startsWith('HOSTNAME='));
	return {
		...options,
		Entrypoint: [gatePath, ...argv],
		Cmd: [],
		// Else the Engine says there what it has called the infra container.
		Env: isNamed ? env : [`HOSTNAME=${hostname}`, ...env],
		HostConfig: {
			...options.HostConfig,
			Mounts: [...(options.HostConfig?.Mounts ?? []), seen(gates.file, gatePath), seen(fifo, gateFifoPath)],
		},
	};
}

/** Where programs are looked for in a container whose image says nothing, as Docker has it. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** It has been started: its program begins. `commit` is called before, and undone by `revoke` when it may not. Rejects with Errors. */
export function passGate(
	{gates, hostname, mayRun}: Gate,
	{State: {Pid: pid}, Config}: Inspected,
	fifo: string,
	[word = '']: readonly string[],
	commit: () => void,
	revoke: () => void,
): Promise<void> {
	const path = Config.Env.findLast(each => each.startsWith('PATH='))?.slice('PATH='.length) ?? defaultPath;
	const workingDir = Config.WorkingDir === '' ? '/' : Config.WorkingDir;
	return gates.pass({
		pid,
		fifo,
		program: {word, path, workingDir},
		hostname,
		mayRun() {
			commit();
			try {
				mayRun(pid);
			} catch (error) {
				revoke();
				throw error;
			}
		},
	});
}
