// What a verb of the inspector is: its words here, its work in `verbs/`, loaded when it is asked for.

import type {Shown} from '../../api/inspect.js';
import type {FlagSpecs, Flags} from '../command.js';
import type {Terminal} from '../screen/terminal.js';
import type {Place} from './places.js';
import type {Counts} from './rates.js';
import type {Session} from './session.js';

export type VerbSpec = {
	readonly name: string;
	readonly aliases?: readonly string[];
	readonly summary: string;
	/** What may stand behind it. */
	readonly usage: string;
	/** A whole line that works when typed, and what it does. */
	readonly example: readonly [string, string];
	readonly flags: FlagSpecs;
	/** What completion offers for words that are no flags. */
	readonly takes: 'places' | 'state' | 'marks' | 'verbs' | 'faults' | 'nothing';
	/** It changes actors: admins alone may, and the audit log has it. `asks`: the user is asked before. */
	readonly changes?: 'asks' | 'unasked';
	/** It tells what goes on, as it happens. */
	readonly streams?: true;
	/** It needs no cluster. */
	readonly isOffline?: true;
	/** Only in the shell: by itself it would do nothing. */
	readonly shellOnly?: true;
	readonly load: () => Promise<{readonly run: VerbRun}>;
};

/** Does the work. What a user or the server has to be told is thrown as AppError. */
export type VerbRun = (call: VerbCall) => Promise<void>;

export type VerbCall = {
	readonly spec: VerbSpec;
	readonly inputs: readonly string[];
	readonly flags: Flags;
	readonly shell: Shell;
	/** Fires when a person wants it to end: Ctrl-C. */
	readonly signal: AbortSignal;
};

/** Where lines are typed, by a person or by a script. */
export type Shell = {
	readonly session: Session;
	readonly terminal: Terminal;
	/** Of objects that are named as kubectl does. */
	readonly namespace: string;
	readonly memory: Memory;
	/** What `-o` is where a line does not say it. */
	readonly format: Format | undefined;
	/** Whether a change may be made; undefined: nobody can be asked. */
	readonly confirm: ((question: string) => Promise<boolean>) | undefined;
	/** Shows a text that may be longer than the screen. */
	readonly page: (text: string) => Promise<void>;
	/** All that can be typed. */
	readonly verbs: readonly VerbSpec[];
	/** Ends the shell after this line. */
	readonly exit: () => void;
};

export type Format = 'json' | 'yaml';

/** What a shell keeps from line to line. */
export type Memory = {
	here: Place;
	/** States that were marked, by name. */
	readonly marks: Map<string, Mark>;
	/** The last look at the counters of a place and all below it. */
	readonly counts: Map<Place, Counts>;
	/** The file of the last trace that was recorded; undefined: none yet. */
	recorded: string | undefined;
	/** Whether it was said that a pod has two actors. */
	isHandTold: boolean;
	systems: {readonly names: readonly string[]; readonly atMs: number} | undefined;
};

export type Mark = {readonly place: Place; readonly at: readonly string[]; readonly atMs: number; readonly state: Shown};

export const emptyMemory = (here: Place): Memory => ({
	here,
	marks: new Map(),
	counts: new Map(),
	recorded: undefined,
	isHandTold: false,
	systems: undefined,
});
