// Languages of functions, and the files that say which one a function is in.

export const filesOfLanguage = {
	python: ['func.py'],
	nodejs: ['func.mjs', 'func.js'],
} as const satisfies Record<string, readonly string[]>;

export type FunctionLanguage = keyof typeof filesOfLanguage;

export const functionLanguages = Object.keys(filesOfLanguage) as readonly FunctionLanguage[];
