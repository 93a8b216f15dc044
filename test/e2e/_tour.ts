// Walks through the README: each command in order, each compared with what is shown. The test and the recorder both walk.

import {compare, filledIn, type Step} from './_readme.js';
import type {Ran, Stage} from './_stage.js';

/** A person takes longer to read than pods take to start; a program waits for what the next command is going to show. */
const settling: readonly {readonly after: RegExp; readonly following?: RegExp; readonly row: RegExp; readonly pods: number}[] = [
	{after: /^\.\/troupe apply -f examples\/hello\.yaml/, row: / 1\/1 +Running /, pods: 3},
	{after: /^kill -9 \d/, row: / 1\/1 +Running +1 \(/, pods: 1},
	{after: /^\.\/troupe up --detach/, following: /^\.\/troupe down --pods/, row: / 1\/1 +Running +1 \(/, pods: 3},
];

/** What only looks may be typed again until it shows what is expected. */
const looks = /^\.\/troupe (?:get|describe|logs|events|tree|why) /;

export type Walked = {
	readonly step: Step;
	/** The command with this run's values. */
	readonly command: string;
	readonly ran: Ran;
	readonly problem: string | undefined;
};

/** Calls back after each step; ends early where a command ended in another way than is shown, since what follows would mean nothing. */
export async function walk(stage: Stage, steps: readonly Step[], seen: (walked: Walked) => void, patienceMs = 30_000): Promise<void> {
	const values = new Map<string, string>();
	let before = '';
	for (const step of steps) {
		const command = filledIn(step.command, values);
		const {ran, problem, learned} = await typed(stage, step, command, values, Date.now() + patienceMs);
		for (const [value, present] of learned) values.set(value, present);
		seen({step, command, ran, problem});
		if ((ran.code === 0) === step.fails) return;
		for (const {after, following, row, pods} of settling)
			if (after.test(command) && (following?.test(before) ?? true)) await stage.podsShow(row, pods);
		before = command;
	}
}

type Typed = Pick<Walked, 'ran' | 'problem'> & {readonly learned: ReadonlyMap<string, string>};

async function typed(stage: Stage, step: Step, command: string, values: ReadonlyMap<string, string>, deadlineMs: number): Promise<Typed> {
	for (;;) {
		const ran = await stage.type(command);
		const learned = new Map(values);
		const isAsShown = (ran.code === 0) !== step.fails;
		const problem = isAsShown ? compare(step, ran.out, learned) : `exit code ${ran.code}: ${ran.out}`;
		if (problem === undefined || !looks.test(command) || Date.now() > deadlineMs) return {ran, problem, learned};
	}
}
