// Counts that may be given as a part in percent.

import {shown} from '../shown.js';
import {refuse, type Found} from './report.js';

/** A whole number from 0 on, or a part of at most so many percent. */
export function checkCountOrPercent(found: Found, path: string, value: unknown, mostPercent: number): void {
	const percent = typeof value === 'string' ? /^(\d{1,6})%$/.exec(value)?.[1] : undefined;
	const isSound =
		typeof value === 'number' ? value >= 0 : typeof value !== 'string' || (percent !== undefined && Number(percent) <= mostPercent);
	if (!isSound) refuse(found, path, `must be a whole number from 0 on, or a part such as "25%", got ${shown(value)}`);
}

/** Zero of either kind. */
export const isZeroCount = (value: unknown): boolean => value === 0 || value === '0%';
