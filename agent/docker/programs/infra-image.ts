// The image of infra containers: one file, imported into the Engine when it is not there. Nothing is pulled.

import {createHash} from 'node:crypto';
import {Readable} from 'node:stream';
import {limits} from '../../../api/limits.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {architectureOf, architectures} from './elf.js';
import {infraProgram} from './infra.js';
import {tarOf} from './tar.js';

/** What it runs. */
export const infraCommand: readonly string[] = ['/infra'];

/** On images of ours: what they are for. */
const imageLabel = 'troupe.dev/image';
const repo = 'troupe.dev/infra';

export type InfraImage = {
	/** Its name; the Engine is asked for it once. Rejects with EngineErrors. */
	readonly name: () => Promise<string>;
	/** The Engine has answered that it has no such image: it is asked again. */
	readonly forget: () => void;
};

export function openInfraImage(engine: Engine): InfraImage {
	let known: Promise<string> | undefined;
	return {
		name() {
			const asked = known ?? ensureInfraImage(engine);
			known = asked;
			asked.catch(() => void (known === asked && (known = undefined)));
			return asked;
		},
		forget: () => void (known = undefined),
	};
}

/**
 * Its name, which carries a hash of the program: another program is another image. Imports it where the Engine has none. Rejects with an
 * EngineError, also for a processor that there is no such program for.
 */
export async function ensureInfraImage(engine: Engine): Promise<string> {
	const {Arch} = await engine.call('ask for its version', limits.engineAnswerMs, docker => docker.version());
	const architecture = architectureOf(Arch);
	if (architecture === undefined) {
		throw new EngineError(
			'refused',
			`infra containers run on processors of the sorts ${architectures.join(' and ')}, and the Engine's is "${Arch}"`,
		);
	}
	const program = infraProgram(architecture);
	const tag = createHash('sha256').update(program).digest('hex').slice(0, 16);
	const name = `${repo}:${tag}`;
	if (!(await isThere(engine, name))) await importImage(engine, name, program);
	return name;
}

async function isThere(engine: Engine, name: string): Promise<boolean> {
	try {
		await engine.call('look at the infra image', limits.engineAnswerMs, docker => docker.getImage(name).inspect());
		return true;
	} catch (error) {
		if (error instanceof EngineError && error.fault === 'notFound') return false;
		throw error;
	}
}

async function importImage(engine: Engine, name: string, program: Buffer): Promise<void> {
	const changes = [`ENTRYPOINT ${JSON.stringify(infraCommand)}`, `LABEL ${imageLabel}=infra`];
	await engine.open('import the infra image', limits.engineImportMs, async docker => {
		// Its tag within `repo`: Podman does not look at `tag`.
		const answer = await docker.importImage(Readable.from([tarOf('infra', program)]), {repo: name, changes});
		await new Promise<void>((resolve, reject) => {
			docker.modem.followProgress(answer, error => (error === null ? resolve() : reject(error)));
		});
	});
}
