// Removing a sandbox: what is left in it is killed first, then its files go, then its address is free.

import {rm} from 'node:fs';
import {succeeded, type Outcome} from '../../../api/errors.js';
import type {Done} from '../../handlers.js';
import type {Leases} from '../../leases/leases.js';
import {systemFailure} from '../../os/explained.js';
import {foldersIn} from '../../os/folders.js';
import type {Sandboxes} from '../sandboxes/sandboxes.js';
import type {Containers} from './containers.js';

export type Removals = {
	/** Joins a removal that is under way. */
	readonly remove: (uid: string, done: Done<null>) => void;
	readonly isRemoving: (uid: string) => boolean;
};

export function createRemovals(
	sandboxes: Sandboxes,
	containers: Containers,
	parts: readonly {readonly remove: (uid: string) => Promise<void>}[],
	leases: Pick<Leases, 'end'>,
): Removals {
	const open = new Map<string, Done<null>[]>();

	function remove(uid: string, done: Done<null>): void {
		const waiting = open.get(uid);
		if (waiting !== undefined) return void waiting.push(done);
		open.set(uid, [done]);
		try {
			killAll(uid, () => removeFiles(uid));
		} catch (error) {
			finish(uid, systemFailure(error));
		}
	}

	function killAll(uid: string, then: () => void): void {
		const names = foldersIn(sandboxes.folderOf(uid));
		let running = names.length;
		if (running === 0) return then();
		for (const container of names) containers.stop({uid, container}, 0, () => void (--running === 0 && then()));
	}

	function removeFiles(uid: string): void {
		const folder = sandboxes.folderOf(uid);
		try {
			for (const container of foldersIn(folder)) containers.forget({uid, container});
			leases.end(uid);
		} catch (error) {
			return finish(uid, systemFailure(error));
		}
		// Besides these parts there are only files of the agent's own in it, and few.
		Promise.all(parts.map(part => part.remove(uid))).then(
			() =>
				rm(folder, {recursive: true, force: true}, error => {
					if (error !== null) return finish(uid, systemFailure(error));
					sandboxes.forget(uid);
					finish(uid, succeeded(null));
				}),
			(error: unknown) => finish(uid, systemFailure(error)),
		);
	}

	function finish(uid: string, outcome: Outcome<null>): void {
		const waiting = open.get(uid) ?? [];
		open.delete(uid);
		for (const done of waiting) done(outcome);
	}

	return {remove, isRemoving: uid => open.has(uid)};
}
