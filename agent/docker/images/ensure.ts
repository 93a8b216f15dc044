// Has a container's image there before it starts: looked for, pulled as its policy says, with the logins of its pod's imagePullSecrets.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {limits} from '../../../api/limits.js';
import {shownName} from '../../../api/shown.js';
import type {EnsuredImage, RuntimeCommand, SecretRef} from '../../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../../actors/node/runtime/secrets-port.js';
import {openSecrets, type OpenedSecrets} from '../../secret-open.js';
import {EngineError, type Engine} from '../engine/engine.js';
import {credentialsFor} from './credentials.js';
import {parseImageReference, type ImageReference} from './image-reference.js';
import type {PullProgress} from './pull-progress.js';
import {PullError} from './pull.js';
import type {Pulls} from './pulls.js';

export type EnsureCommand = Extract<RuntimeCommand, {type: 'image.ensure'}>;

export type EnsureOptions = {
	readonly engine: Engine;
	readonly pulls: Pulls;
	readonly secrets: NodeSecrets;
	/** An image is about to be used; `name`: it came by this agent, under that name. */
	readonly onUse: (id: string, name: string | undefined) => void;
};

export type FoundImage = {readonly id: string; readonly bytes: number};

/** Never rejects. */
export async function ensureImage(
	options: EnsureOptions,
	{image, policy, namespace, secrets}: Pick<EnsureCommand, 'image' | 'policy' | 'namespace' | 'secrets'>,
	onProgress: (progress: PullProgress) => void,
): Promise<Outcome<EnsuredImage>> {
	const reference = parseImageReference(image);
	if (reference === undefined) return failed('ERR_IMAGE_NAME', {image: shownName(image), message: nameForm});
	try {
		const present = policy === 'Always' ? undefined : await findImage(options.engine, reference.name);
		if (present !== undefined) {
			options.onUse(present.id, undefined);
			return succeeded({imageId: present.id});
		}
		if (policy === 'Never') return failed('ERR_IMAGE_ABSENT', {image});
		const opened = await openedOf(secrets, namespace, options.secrets);
		return opened.ok ? await pulled(options, {image, reference}, opened.value, onProgress) : opened;
	} catch (error) {
		if (error instanceof EngineError) return failed('ERR_RUNTIME', {message: error.message});
		throw error;
	}
}

/** How names of images have to be. */
export const nameForm = 'it must be [HOST[:PORT]/]PATH[:TAG][@DIGEST] with a path in lower case';

type Wanted = {readonly image: string; readonly reference: ImageReference};

async function pulled(
	{engine, pulls, onUse}: EnsureOptions,
	{image, reference}: Wanted,
	opened: OpenedSecrets,
	onProgress: (progress: PullProgress) => void,
): Promise<Outcome<EnsuredImage>> {
	const missing = [...opened].flatMap(([name, data]) => (data === undefined ? name : []));
	const missingSecrets = missing.length === 0 ? {} : {missingSecrets: missing};
	const credentials = credentialsFor(
		reference,
		[...opened.values()].filter(data => data !== undefined),
	);
	try {
		const {ms} = await pulls.pull(reference, credentials, onProgress);
		const found = await findImage(engine, reference.name);
		if (found === undefined) throw new PullError('the Engine pulled it, and does not have it');
		onUse(found.id, reference.name);
		return succeeded({imageId: found.id, pulled: {bytes: found.bytes, ms: Math.round(ms)}, ...missingSecrets});
	} catch (error) {
		if (!(error instanceof PullError)) throw error;
		return failed('ERR_IMAGE_PULL', {message: `cannot pull image "${image}": ${error.message}`, ...missingSecrets});
	}
}

const openedOf = (refs: readonly SecretRef[], namespace: string, secrets: NodeSecrets): Promise<Outcome<OpenedSecrets>> =>
	new Promise(resolve => openSecrets(refs, namespace, secrets, resolve));

/** By a canonical name or an id; undefined: the Engine has none. Rejects with an EngineError. */
export async function findImage(engine: Engine, name: string): Promise<FoundImage | undefined> {
	try {
		const {Id: id, Size: bytes} = await engine.call('look for the image', limits.imageLookMs, docker => docker.getImage(name).inspect());
		return {id, bytes};
	} catch (error) {
		if (error instanceof EngineError && error.fault === 'notFound') return undefined;
		throw error;
	}
}
