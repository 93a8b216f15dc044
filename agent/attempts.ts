// The files of one container: `<uid>/<container>/<attempt>/{state,log,...}` and, beside the attempts, the lifeline.

import {readdirSync} from 'node:fs';
import path from 'node:path';
import {valueOrFor} from '../system/files/errno.js';

export const lifelineFile = (folder: string): string => path.join(folder, 'lifeline');
export const stdinFile = (folder: string): string => path.join(folder, 'stdin');
/** Beside it: a line ends the input. */
export const stdinEndFile = (folder: string): string => path.join(folder, 'stdin.end');
export const attemptFolder = (folder: string, attempt: number): string => path.join(folder, String(attempt));
export const stateFile = (folder: string, attempt: number): string => path.join(folder, String(attempt), 'state');
export const logFile = (folder: string, attempt: number): string => path.join(folder, String(attempt), 'log');

/** Numbers of the attempts that have files, the latest first. Throws errno exceptions other than a missing folder. */
export const attemptsIn = (folder: string): number[] =>
	valueOrFor([], ['ENOENT'], () => readdirSync(folder))
		.filter(name => /^\d{1,9}$/.test(name))
		.map(Number)
		.sort((a, b) => b - a);
