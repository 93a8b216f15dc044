// How verbs are found, and the flags that all of them take.

import type {FlagSpecs} from '../command.js';
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
