// How verbs are found, and the flags that all of them take.

import type {FlagSpecs} from '../command.js';
import {documentFlag, namespaceFlag} from '../command-line/flags.js';
import type {VerbSpec} from './verb.js';

/** Of every verb. */
export const verbFlags: FlagSpecs = {...documentFlag, ...namespaceFlag};

/** The verb of this name or alias. */
export const findVerb = (name: string, specs: readonly VerbSpec[]): VerbSpec | undefined =>
	specs.find(spec => spec.name === name || spec.aliases?.includes(name) === true);
