// Which language a function is in: what its files say, or what is asked for.

import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import {filesOfLanguage, functionLanguages, type FunctionLanguage} from '../../api/function-languages.js';
import {usageError} from '../command.js';

/** Throws ERR_USAGE where that is not clear. */
export function languageOf(
	folder: string,
	asked: string | undefined,
	{shown = folder, by = '--lang'}: {readonly shown?: string; readonly by?: string} = {},
): FunctionLanguage {
	if (statSync(folder, {throwIfNoEntry: false})?.isDirectory() !== true) throw usageError(`"${shown}" is no folder`);
	const found = functionLanguages.filter(name => filesOfLanguage[name].some(file => existsSync(path.join(folder, file))));
	const language = asked === undefined ? found[0] : found.find(name => name === asked);
	if (language === undefined) throw usageError(`${shown}: there is no ${filesOf(asked)} in it`);
	if (asked === undefined && found.length > 1)
		throw usageError(`${shown}: has ${filesOf(undefined, found)}; ${by} says which one is called`);
	return language;
}

const filesOf = (asked: string | undefined, among: readonly FunctionLanguage[] = functionLanguages): string =>
	among
		.filter(name => asked === undefined || name === asked)
		.flatMap(name => filesOfLanguage[name])
		.join(' or ');
