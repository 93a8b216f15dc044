// What is told of a program that was run as a probe or a hook: bounded, and the same words whichever runtime ran it.

import {failed, type Outcome} from '../api/errors.js';
import {limits} from '../api/limits.js';
import type {ActionResult} from '../actors/node/runtime/runtime-port.js';

/** The end of its output so far, with what was written since. */
export const outputTail = (tail: Buffer, data: Buffer): Buffer => Buffer.concat([tail, data]).subarray(-limits.actionOutputBytes);

export const ended = (code: number, tail: Buffer): ActionResult =>
	code === 0 ? {ok: true, message: textOf(tail)} : {ok: false, message: withTail(`exit ${code}`, tail)};

export const tookLonger = (argv: readonly string[], timeoutMs: number, tail: Buffer): ActionResult => ({
	ok: false,
	message: withTail(`command ${quoted(argv)} took longer than ${timeoutMs} ms`, tail),
});

/** There are so many under way. */
export const tooManyActions = (waiting: number): Outcome<ActionResult> => failed('ERR_BUSY', {address: 'probes and hooks', waiting});

const textOf = (tail: Buffer): string =>
	tail
		.toString('utf8')
		.replace(/^\uFFFD+/, '')
		.trim();

const withTail = (text: string, tail: Buffer): string => (tail.length === 0 ? text : `${text}: ${textOf(tail)}`);

const quoted = (argv: readonly string[]): string => JSON.stringify(argv.join(' ')).slice(0, limits.shownCharacters);
