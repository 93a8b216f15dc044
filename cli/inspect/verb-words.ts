// How verbs are found, and the flags that all of them take.

import type {AppError} from '../../api/errors.js';
import {didYouMean} from '../../api/suggest.js';
import {usageError, type FlagSpecs} from '../command.js';
import {documentFlag, namespaceFlag} from '../command-line/flags.js';
import type {VerbSpec} from './verb.js';

/** Of every verb. */
export const verbFlags: FlagSpecs = {...documentFlag, ...namespaceFlag};

/** The verb of this name or alias. */
export const findVerb = (name: string, specs: readonly VerbSpec[]): VerbSpec | undefined =>
	specs.find(spec => spec.name === name || spec.aliases?.includes(name) === true);

/** Whether lines follow each other: where one command is all, there is no going anywhere. */
export const isShell = (specs: readonly VerbSpec[]): boolean => specs.some(({shellOnly}) => shellOnly === true);

/** What stands in front of a verb where it is typed. */
export const commandOf = ({verbs}: {readonly verbs: readonly VerbSpec[]}): string => (isShell(verbs) ? '' : 'troupe actor ');

/** ERR_USAGE, with the verb that was meant. */
export function unknownVerb(name: string, verbs: readonly VerbSpec[]): AppError {
	const names = verbs.flatMap(spec => [spec.name, ...(spec.aliases ?? [])]).filter(each => /^\w/.test(each));
	const foreign = Object.hasOwn(foreignVerbs, name) ? `; there is: ${foreignVerbs[name] ?? ''}` : '';
	return usageError(`unknown verb "${name}"${foreign || didYouMean(name, names) || '; help lists them'}`);
}

/** What people type who know other tools. */
const foreignVerbs: {readonly [word: string]: string} = {
	cat: 'state',
	describe: 'state, journal and links',
	get: 'ls, or troupe get for objects',
	inspect: 'state',
	logs: 'troupe logs, of a container; journal and watch, of an actor',
	observer: 'top, tree -w',
	ps: 'tree, or top',
	retry: 'restart, of an actor; troupe retry, of a container that waits',
	send: 'tell',
	why: 'journal, or troupe why for an object',
};
