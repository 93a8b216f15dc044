// What an operator is told at an agent's start: what of that which was asked for cannot be done here, and whose the users of pods are as well.

import {hostUsersIn} from '../users/host-users.js';
import type {UserRange} from '../users/pod-users.js';

/** `--pod-users` and `--max-processes`; undefined: not given. */
type Flags = {readonly users?: UserRange | undefined; readonly processes?: number | undefined};

/** `range`: the users that pods get; undefined where the agent is no root. `countsProcesses`: whether a control group does. */
export const startNotes = ({users, processes}: Flags, range: UserRange | undefined, countsProcesses: boolean): readonly string[] =>
	range !== undefined
		? hostUsersIn(range)
		: [
				...(users === undefined ? [] : ['--pod-users has no effect: an agent that is not root runs all pods as its own user']),
				...(processes === undefined || countsProcesses
					? []
					: [
							'--max-processes has no effect: for an agent that is not root only control groups can bound processes, and it may use none that counts them',
						]),
			];
