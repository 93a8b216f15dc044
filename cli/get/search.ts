// What `get` looks for, and the requests that find it.

import {AppError, rowOf} from '../../api/errors.js';
import type {Client, Query} from '../client.js';
import {withNearest} from '../cluster/nearest.js';
import {pathOf, type Target} from '../cluster/resources.js';
import type {Terminal} from '../screen/terminal.js';

export type Search = {
	readonly targets: readonly Target[];
	/** Undefined: every namespace. */
	readonly namespace: string | undefined;
	readonly labelSelector: string | undefined;
	readonly fieldSelector: string | undefined;
	readonly ignoreNotFound: boolean;
	readonly format: 'table' | 'wide' | 'json' | 'yaml' | 'name';
};

const selectorsOf = ({labelSelector, fieldSelector}: Search): Query => ({labelSelector, fieldSelector});

/** The query that finds one object as a list of one, to watch from. */
export const selectorsFor = (search: Search, {names: [name]}: Target): Query =>
	name === undefined ? selectorsOf(search) : {fieldSelector: `metadata.name=${name}`};

/** What was found of one target: the answers, and the exit code of what was missing. */
export type SearchResult<Answer> = {readonly target: Target; readonly answers: readonly Answer[]; readonly exitCode: number};

/** Asks for each target: one list, or each name. Missing names are told and counted, and the others are found all the same. */
export async function search<Answer>(
	client: Client,
	wanted: Search,
	accept: string,
	terminal: Pick<Terminal, 'error'>,
): Promise<readonly SearchResult<Answer>[]> {
	return Promise.all(
		wanted.targets.map(async (target): Promise<SearchResult<Answer>> => {
			const ask = async (name?: string) =>
				(await client.json({
					path: pathOf(target.resource, wanted.namespace, name),
					query: name === undefined ? selectorsOf(wanted) : {},
					accept,
				})) as Answer;
			if (target.names.length === 0) return {target, answers: [await ask()], exitCode: 0};
			const answers = await Promise.all(target.names.map(name => ask(name).catch((error: unknown) => missing(error))));
			const failures = answers.filter(answer => answer instanceof AppError);
			const told = failures.filter(({code}) => !(wanted.ignoreNotFound && code === 'ERR_NOT_FOUND'));
			for (const error of told) terminal.error((await withNearest(client, error)).message);
			return {
				target,
				answers: answers.filter((answer): answer is Exclude<typeof answer, AppError> => !(answer instanceof AppError)),
				exitCode: Math.max(0, ...told.map(({code}) => rowOf(code).exitCode)),
			};
		}),
	);
}

/** What one object lacks is told beside the others; a server that does not answer ends it all. */
function missing(error: unknown): AppError {
	if (error instanceof AppError && rowOf(error.code).exitCode !== 5) return error;
	throw error;
}

export const exitCodeOf = (found: readonly SearchResult<unknown>[]): number => Math.max(0, ...found.map(({exitCode}) => exitCode));
