// Removing a sandbox on Docker: what is left in it is killed first, then its containers go, then its files.

import {rm} from 'node:fs/promises';
import {succeeded, type Outcome} from '../../../api/errors.js';
import type {Done} from '../../handlers.js';
import {systemFailure} from '../../os/explained.js';
import {foldersIn} from '../../os/folders.js';
import type {Sandboxes} from '../sandboxes/sandboxes.js';
import type {Containers} from './containers.js';

export type Removals = {
	/** Joins a removal that is under way. */
	readonly remove: (uid: string, done: Done<null>) => void;
	readonly isRemoving: (uid: string) => boolean;
};

/** `parts` are asked once nothing of the pod runs any more. */
export function createRemovals(
	sandboxes: Sandboxes,
	containers: Containers,
	parts: readonly {readonly remove: (uid: string) => Promise<void>}[],
): Removals {
	const open = new Map<string, Promise<Outcome<null>>>();

	async function removed(uid: string): Promise<Outcome<null>> {
		const folder = sandboxes.folderOf(uid);
		try {
			const names = foldersIn(folder);
			const ends = names.map(container => new Promise<Outcome<unknown>>(resolve => containers.stop({uid, container}, 0, resolve)));
			const failure = (await Promise.all(ends)).find(outcome => !outcome.ok);
			if (failure !== undefined && !failure.ok) return failure;
			// Also what nobody has heard of, such as one that was made by a call that was not answered.
			await sandboxes.removeContainers(uid);
			for (const container of names) containers.forget({uid, container});
			for (const part of parts) await part.remove(uid);
			// Besides these parts there are only files of the agent's own in it, and few.
			await rm(folder, {recursive: true, force: true});
			sandboxes.forget(uid);
			return succeeded(null);
		} catch (error) {
			return systemFailure(error);
		}
	}

	return {
		remove(uid, done) {
			const removal =
				open.get(uid) ??
				removed(uid).then(outcome => {
					open.delete(uid);
					return outcome;
				});
			open.set(uid, removal);
			void removal.then(done);
		},
		isRemoving: uid => open.has(uid),
	};
}
