// Programs that end by themselves, with 0 or not as the seed has it: what Jobs run.

import {programByWords, type Program} from '../../agent/simulated/script.js';
import type {OpenedSpec} from '../../actors/node/runtime/runtime-port.js';
import type {Random} from '../../system/time/random.js';

/** The image of a program that fails in this share of its runs, and takes so long at most. */
export const taskImage = (fails: number, lastsMs: number): string => `task-fails-${Math.round(fails * 100)}-lasts-${lastsMs}ms`;

/** The exit code that failure policies have their rules for, and two others. */
export const policyCode = 42;
const codes: readonly number[] = [1, 2, policyCode];

export function programOf(spec: Pick<OpenedSpec, 'image' | 'argv'>, random: Random): Program {
	const [, fails, lastsMs] = /^task-fails-(\d+)-lasts-(\d+)ms$/.exec(spec.image) ?? [];
	if (fails === undefined) return programByWords(spec);
	const hasFailed = random.next() * 100 < Number(fails);
	const code = hasFailed ? (codes[Math.floor(random.next() * codes.length)] ?? 1) : 0;
	const afterMs = Math.round(random.next() * Number(lastsMs));
	// Some end well when they are told to.
	return {ends: {code, afterMs}, terminates: {afterMs: 0, code: random.next() < 0.3 ? 0 : 143}};
}
