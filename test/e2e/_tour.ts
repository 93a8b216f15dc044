// Walks through the README: each command in order, each compared with what is shown. The test and the recorder both walk.

import {compare, filledIn, type Step} from './_readme.js';
import type {Ran, Stage} from './_stage.js';

/** A person takes longer to read than pods take to start; a program waits for what the next command is going to show. */
const settling: readonly {readonly after: RegExp; readonly row: RegExp; readonly pods: number}[] = [
	{after: /^\.\/troupe apply /, row: / 1\/1 +Running /, pods: 3},
	{after: /^kill -9 \d/, row: / 1\/1 +Running +1 \(/, pods: 1},
];

export type Walked = {
	readonly step: Step;
	/** The command with this run's values. */
	readonly command: string;
	readonly ran: Ran;
	readonly problem: string | undefined;
};

/** Calls back after each step; ends early where a command failed, since what follows would mean nothing. */
export async function walk(stage: Stage, steps: readonly Step[], seen: (walked: Walked) => void): Promise<void> {
	const values = new Map<string, string>();
	for (const step of steps) {
		const command = filledIn(step.command, values);
		const ran = await stage.type(command);
		const problem = ran.code === 0 ? compare(step, ran.out, values) : `exit code ${ran.code}: ${ran.out}`;
		seen({step, command, ran, problem});
		if (ran.code !== 0) return;
		for (const {after, row, pods} of settling) if (after.test(command)) await stage.podsShow(row, pods);
	}
}
