// What commands that write say of each object: a line, its name, or at the end the objects themselves.

import {AppError, rowOf} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import type {Flags} from '../command.js';
import {withKind} from '../cluster/lists.js';
import {withNearest} from '../cluster/nearest.js';
import {asText, listOf} from '../objects/output.js';
import {displayName, type Resource} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';
import {isAboutTheServer} from './located.js';

export type Report = {
	/** `what` became of it: `created`. The object is as it is now. */
	readonly say: (resource: Resource, object: ApiObject, what: string) => void;
	/** Prints what is printed at the end. */
	readonly end: () => Promise<void>;
};

/** `--dry-run`, which alone means that the server checks; undefined: it is meant. */
export const dryRunOf = (flags: Flags): 'client' | 'server' | undefined => {
	const word = flags.text('dry-run');
	return word === 'client' || word === undefined || word === 'none' ? (word === 'none' ? undefined : word) : 'server';
};

const suffixOf = (flags: Flags): string => {
	const word = flags.text('dry-run');
	if (word === undefined || word === 'none') return '';
	return word === 'server' ? ' (server dry run)' : ' (dry run)';
};

/** What is said of an object in a line: `pod/web created`. */
export type Wording = (resource: Resource, name: string, what: string) => string;

const usualWording: Wording = (resource, name, what) => `${displayName(resource, name)} ${what}`;

/** `one`: a single object is shown as itself, several are a List. */
export function reportOf(terminal: Pick<Terminal, 'out'>, flags: Flags, one: boolean, wording = usualWording): Report {
	const form = flags.text('output') as 'json' | 'yaml' | 'name' | undefined;
	const suffix = suffixOf(flags);
	const objects: ApiObject[] = [];
	return {
		say(resource, object, what) {
			const {name} = object.metadata;
			if (form === undefined) terminal.out(`${wording(resource, name, what)}${suffix}\n`);
			else if (form === 'name') terminal.out(`${displayName(resource, name)}\n`);
			else objects.push(withKind(object, resource));
		},
		async end() {
			const [only] = objects;
			if (form !== 'json' && form !== 'yaml') return;
			if (!one) terminal.out(await asText(listOf(objects), form));
			else if (only !== undefined) terminal.out(await asText(only, form));
		},
	};
}

/** Tells an error about one object of several; its exit code. One that would be the same for all is thrown on. */
export async function tellOfOne(client: Client, error: unknown, terminal: Pick<Terminal, 'error'>): Promise<number> {
	if (!(error instanceof AppError) || isAboutTheServer(error)) throw error;
	terminal.error((await withNearest(client, error)).message);
	return rowOf(error.code).exitCode;
}
