// The actor tree as people look at it.

import type {Address} from '../../api/keys.js';

export type ActorState = 'running' | 'committing' | 'restarting' | 'parked' | 'stopping';

export type TreeNode = {
	readonly name: string;
	readonly address: Address;
	readonly behavior: string;
	readonly state: ActorState;
	/** What it says it is doing. */
	readonly about: string;
	readonly restarts: number;
	/** Messages in its mailbox. */
	readonly waiting: number;
	/** The last crash, if there was one. */
	readonly failure: string | undefined;
	readonly children: readonly TreeNode[];
};
