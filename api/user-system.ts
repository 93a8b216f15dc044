// Actor systems of users' own (`troupe actor run`): how they are called, and what each publishes of itself on its presence topic.
//
// One is `<name>@<login>`: no node can be called so, since names of nodes are DNS names, nor can `control`.

import {isObject} from './object.js';
import {isDnsLabel} from './rules/names.js';
import {parsedJson} from './value-or.js';

export type UserSystem = {
	readonly name: string;
	/** Under whose rights it runs. */
	readonly login: string;
};

export const formatUserSystem = ({name, login}: UserSystem): string => `${name}@${login}`;

/** Undefined: no user's system is called so. */
export function parseUserSystem(text: string): UserSystem | undefined {
	if (!text.includes('@')) return undefined;
	const [name = '', login = '', ...more] = text.split('@');
	return more.length === 0 && isDnsLabel(name) && isDnsLabel(login) ? {name, login} : undefined;
}

export type UserPresence = {
	/** `asking`, not retained: this run wants the name and asks which one has it. `online`, retained: this run has it. */
	readonly state: 'asking' | 'online';
	/** Random per run. */
	readonly boot: string;
	/** When the run began, by the clock of its host. */
	readonly sinceMs: number;
	/** Where it runs, and what. */
	readonly host: string;
	readonly pid: number;
	readonly file: string;
};

const textCharacters = 255;

export const formatUserPresence = (presence: UserPresence): string => JSON.stringify(presence);

/** Undefined: the text is no presence of a user's system; the empty one of a system that is gone is none. */
export function parseUserPresence(text: string): UserPresence | undefined {
	const parsed = parsedJson(text);
	if (!isObject(parsed)) return undefined;
	const {state, boot, sinceMs, host, pid, file} = parsed;
	if (state !== 'asking' && state !== 'online') return undefined;
	if (!isShort(boot) || boot === '' || !isShort(host) || !isShort(file)) return undefined;
	if (!isCount(pid) || !isCount(sinceMs)) return undefined;
	return {state, boot, sinceMs, host, pid, file};
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const isShort = (value: unknown): value is string => typeof value === 'string' && value.length <= textCharacters;
