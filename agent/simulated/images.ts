// Images of a simulated host: pulled in the time that the script says, or not; they stay when the agent goes.

import {failed, succeeded, type Outcome} from '../../api/errors.js';
import type {EnsuredImage, ListedImage, RuntimeCommand, RuntimeEvent} from '../../actors/node/runtime/runtime-port.js';

/** How long a pull takes, and what comes of it. */
export type Pull = {readonly ms: number; readonly bytes: number} | {readonly ms: number; readonly problem: string};

export type SimulatedImages = Map<string, {readonly bytes: number; readonly createdAtMs: number}>;

type Ensure = Extract<RuntimeCommand, {type: 'image.ensure'}>;

type Around = {
	readonly images: SimulatedImages;
	readonly pull: (image: string) => Pull;
	readonly nowMs: () => number;
	/** Does something after so many ms, if the agent still lives. */
	readonly later: (delayMs: number, act: () => void) => void;
	readonly hear: (event: RuntimeEvent) => void;
};

const idOf = (image: string): string => `simulated:${image}`;

export function ensureImage(
	{images, pull, nowMs, later, hear}: Around,
	command: Ensure,
	done: (outcome: Outcome<EnsuredImage>) => void,
): void {
	const {id, namespace, podName, image, policy} = command;
	const isThere = images.has(image);
	if (isThere && policy !== 'Always') return done(succeeded({imageId: idOf(image)}));
	if (policy === 'Never') return done(failed('ERR_IMAGE_ABSENT', {image}));
	const pulled = pull(image);
	const totalBytes = 'bytes' in pulled ? pulled.bytes : undefined;
	const tell = (atMs: number): void => {
		if (atMs >= pulled.ms) return;
		later(1_000, () => {
			const part = atMs / pulled.ms;
			const bytes = totalBytes === undefined ? undefined : Math.floor(totalBytes * part);
			hear({
				type: 'pulling',
				id,
				namespace,
				podName,
				percent: totalBytes === undefined ? undefined : Math.floor(100 * part),
				bytes,
				totalBytes,
			});
			tell(atMs + 1_000);
		});
	};
	tell(1_000);
	later(pulled.ms, () => {
		if ('problem' in pulled) return done(failed('ERR_IMAGE_PULL', {message: pulled.problem}));
		images.set(image, {bytes: pulled.bytes, createdAtMs: nowMs()});
		done(succeeded({imageId: idOf(image), pulled}));
	});
}

/** `used`: the images of all containers there are. */
export const listImages = (images: SimulatedImages, used: ReadonlySet<string>): readonly ListedImage[] =>
	[...images].map(([name, image]) => ({id: idOf(name), names: [name], ...image, inUse: used.has(name)}));
