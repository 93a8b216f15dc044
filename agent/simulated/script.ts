// How a simulated node behaves: what becomes of each command, and what each program does. By default everything works at once
// and programs do what their words suggest.

import type {ActionResult, ContainerAction, ContainerSpec, OpenedSpec, RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import type {Random} from '../../system/time/random.js';
import {execByWords} from './exec.js';
import type {Pull} from './images.js';

/** What becomes of one command. */
export type Treatment =
	| {readonly type: 'answers'; readonly afterMs: number}
	/** Nothing is done and the answer says why. */
	| {readonly type: 'fails'; readonly afterMs: number; readonly message: string}
	/** No answer ever comes; it is done nevertheless, or not. */
	| {readonly type: 'isSilent'; readonly acts: boolean};

export type Program = {
	/** When it ends by itself; undefined: never. */
	readonly ends: {readonly afterMs: number; readonly code: number} | undefined;
	/** How it takes SIGTERM; undefined: not at all. */
	readonly terminates: {readonly afterMs: number; readonly code: number} | undefined;
};

export type SimulatedScript = {
	readonly treat?: (command: RuntimeCommand, random: Random) => Treatment;
	/** What becomes of a pull. Without it images are only names. */
	readonly pull?: (image: string, random: Random) => Pull;
	readonly program?: (spec: OpenedSpec, random: Random) => Program;
	/** How a probe or a hook of a container that runs goes; `nowMs` is wall time, `startedAtMs` when the attempt began. */
	readonly act?: (act: SimulatedAct, random: Random) => ActionResult;
};

export type SimulatedAct = {
	readonly spec: ContainerSpec;
	readonly action: ContainerAction;
	readonly startedAtMs: number;
	readonly nowMs: number;
};

export const answersAtOnce: Treatment = {type: 'answers', afterMs: 0};

const terminates = {afterMs: 0, code: 143};
const runsOn: Program = {ends: undefined, terminates};
const endsWith = (code: number, afterMs: number): Program => ({ends: {code, afterMs}, terminates});

/**
 * By the image: `…exit-<code>` or `…exit-<code>-after-<ms>ms` and `…ignores-term`; else by the words: `true`, `false`,
 * `sleep <seconds>` and a shell's `exit <code>`. Everything else runs on.
 */
export function programByWords({image, argv}: Pick<OpenedSpec, 'image' | 'argv'>): Program {
	if (image.endsWith('ignores-term')) return {ends: undefined, terminates: undefined};
	const [, code, afterMs = '0'] = /exit-(\d{1,3})(?:-after-(\d+)ms)?$/.exec(image) ?? [];
	if (code !== undefined) return endsWith(Number(code), Number(afterMs));
	const [word = '', argument = ''] = argv;
	switch (word.slice(word.lastIndexOf('/') + 1)) {
		case 'true':
			return endsWith(0, 0);
		case 'false':
			return endsWith(1, 0);
		case 'sleep':
			return /^\d+(\.\d+)?$/.test(argument) ? endsWith(0, Number(argument) * 1_000) : runsOn;
		case 'sh': {
			const [, exitCode] = /^exit (\d{1,3})$/.exec(argv[2] ?? '') ?? [];
			return argument === '-c' && exitCode !== undefined ? endsWith(Number(exitCode), 0) : runsOn;
		}
		default:
			return runsOn;
	}
}

/** By the words of a program that is known; everything else goes well. */
export function actByWords({action}: Pick<SimulatedAct, 'action'>): ActionResult {
	const exitCode = action.type === 'exec' ? (execByWords(action.argv)?.exitCode ?? 0) : 0;
	return exitCode === 0 ? {ok: true, message: ''} : {ok: false, message: `exit ${exitCode}`};
}
