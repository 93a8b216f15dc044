// Languages of functions, and the files that say which one a function is in.

export const filesOfLanguage = {
	python: ['func.py'],
	nodejs: ['func.mjs', 'func.js'],
} as const satisfies Record<string, readonly string[]>;

/** Where a function of class docker names no image. */
export const imageOfLanguage = {python: 'python:3-slim', nodejs: 'node:22-slim'} as const satisfies Record<
	keyof typeof filesOfLanguage,
	string
>;

export type FunctionLanguage = keyof typeof filesOfLanguage;

export const functionLanguages = Object.keys(filesOfLanguage) as readonly FunctionLanguage[];
