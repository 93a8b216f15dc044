// Which runners that wait are alike: any of them can become what asks for it. Pure.

import type {FunctionLanguage} from '../../../api/function-languages.js';

export type WarmWish = {
	readonly language: FunctionLanguage;
	/** The interpreter. */
	readonly program: string;
	/** The limit by which one sizes itself when it begins, as V8 does; undefined: there is none, or its language does not look. */
	readonly memoryBytes: number | undefined;
};

/** As a pool of runners of one language has it. */
export const keyOfWish = ({program, memoryBytes}: Omit<WarmWish, 'language'>): string => JSON.stringify([program, memoryBytes ?? null]);

/** Throws a SyntaxError for what no wish has as its key. */
export function wishOfKey(key: string): Omit<WarmWish, 'language'> {
	const [program, memoryBytes] = JSON.parse(key) as [string, number | null];
	return {program, memoryBytes: memoryBytes ?? undefined};
}
