// Attempts of instances of functions: what is done before a container's usual start, and where the runner of one that runs is.

import {failed, succeeded, type Outcome} from '../../../api/errors.js';
import {functionContainer, type FunctionInstance} from '../../../api/function-instance.js';
import {clearSockets} from '../../functions/runner-socket.js';
import {hasCode, hasRunner, isInstanceAt, makeCode, makeRunner} from '../../functions/instance-code.js';
import type {RunnerPlace} from '../../functions/runner-place.js';
import {noInstance} from '../../refusals.js';
import {createTurns} from '../../os/turns.js';
import type {User} from '../../os/user.js';
import type {Beginning} from '../users/privileges.js';

/** How a node comes by the code of functions. */
export type Artifacts = {
	/** Resolves to the path of a file: the archive of this digest, which was looked through. */
	readonly ensure: (digest: string) => Promise<string>;
};

export type Instances = {
	/**
	 * Calls `beginWarm` once the code of the function is in the folder, and no socket of an attempt before; where that has begun nothing, `begin` once
	 * its runner is there as well; at once when an attempt runs. Rejects with Errors for people, and with what these throw.
	 */
	readonly start: (attempt: InstanceAttempt, ways: {readonly beginWarm: () => boolean; readonly begin: () => void}) => Promise<void>;
	/** Folders of the pod are removed when nothing is made in them any more. */
	readonly remove: (uid: string) => Promise<void>;
};

export type InstanceAttempt = {
	readonly uid: string;
	readonly home: string;
	/** Where its socket is, if not there. */
	readonly socketFolder?: string;
	readonly instance: FunctionInstance;
	/** Whether a container that waits has the folder of its code already. */
	readonly isSeen?: boolean;
	/** Whether the pod is still to have it. */
	readonly isWanted: () => boolean;
	readonly isRunning: () => boolean;
};

export function createInstances(artifacts: Artifacts | undefined, homes: {readonly remove: (uid: string) => Promise<void>}): Instances {
	const turns = createTurns();

	/** What may take long is done before the turn, so that a removal waits for the disk alone. */
	async function archiveFor({home, instance, isRunning}: InstanceAttempt): Promise<string | undefined> {
		if (instance.artifact === undefined) return undefined;
		if (artifacts === undefined) throw new Error('this node cannot fetch functions');
		return isRunning() || hasCode(home, instance) ? undefined : artifacts.ensure(instance.artifact);
	}

	async function prepare(
		{home, socketFolder = home, instance, isSeen, isWanted, isRunning}: InstanceAttempt,
		archive: string | undefined,
	): Promise<void> {
		if (!isWanted()) throw new Error('its pod is being removed');
		if (isRunning()) return;
		if (!hasCode(home, instance)) {
			if (archive === undefined && instance.artifact !== undefined) throw new Error('its code is no longer as it was made');
			await makeCode(home, instance, archive, isSeen);
		}
		await clearSockets(socketFolder);
	}

	async function prepareRunner({home, instance, isWanted, isRunning}: InstanceAttempt): Promise<void> {
		if (isRunning() || hasRunner(home, instance)) return;
		await makeRunner(home, instance);
		if (!isWanted()) throw new Error('its pod is being removed');
	}

	return {
		async start(attempt, {beginWarm, begin}) {
			const archive = await archiveFor(attempt);
			await turns.run(attempt.uid, async () => {
				await prepare(attempt, archive);
				if (beginWarm()) return;
				await prepareRunner(attempt);
				begin();
			});
		},
		remove: uid => turns.run(uid, () => homes.remove(uid)),
	};
}

/** Of a pod's container `function`: `started` is what is known of its attempt that runs, `homeOf` the folder of a user. */
export function runnerPlaceOf(
	uid: string,
	{highest, started}: {readonly highest: number; readonly started: {readonly beginning: Beginning | undefined} | undefined},
	homeOf: (user: User) => string,
): Outcome<RunnerPlace> {
	if (highest >= 0 && started === undefined) return failed('ERR_NOT_REACHABLE', {message: `container "${functionContainer}" does not run`});
	const user = started?.beginning?.user;
	const home = user === undefined ? undefined : homeOf(user);
	if (user === undefined || home === undefined || !isInstanceAt(home)) return noInstance(uid);
	return succeeded({home, owner: user.uid});
}
