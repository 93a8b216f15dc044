// How a command that a person is told to type finds this home again: `--home` wherever it would look elsewhere without.

import {homedir} from 'node:os';
import {homeRoot} from './home.js';
import {shellWord} from './shell-word.js';

/** ` --home DIR`, or nothing where `troupe down` typed here means this home anyway. */
export const homeFlag = (home: string): string => flagFor(home, process.env['TROUPE_HOME']);

/** The same for another terminal, whose TROUPE_HOME is not known. */
export const homeFlagElsewhere = (home: string): string => flagFor(home, undefined);

const flagFor = (home: string, fromEnvironment: string | undefined): string =>
	home === homeRoot('down', undefined, fromEnvironment, homedir()) ? '' : ` --home ${shellWord(home)}`;

/** What a person has to know who has a KUBECONFIG: `kubectl` and `troupe` may ask different clusters. */
export const kubeconfigNotes = (): readonly string[] =>
	(process.env['KUBECONFIG'] ?? '') === '' ? [] : ['KUBECONFIG is set: kubectl goes by it, troupe asks the cluster of its home first'];
