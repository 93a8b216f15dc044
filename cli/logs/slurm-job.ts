// The output of SlurmJobs: a file of the job, byte for byte, and with -f as it grows.

import {AppError} from '../../api/errors.js';
import type {Client} from '../client.js';
import {usageError, type Invocation} from '../command.js';
import {getOne} from '../cluster/lists.js';
import {pathOf, resourceOf} from '../cluster/resources.js';
import {plainSink} from './sink.js';
import type {LogWish} from './wish.js';

const kindWords = /^(slurmjobs?|sj)$/i;
const jobWords = /^jobs?$/i;

/** The name of the SlurmJob that is meant; undefined: something else is. A `job/NAME` is one where there is no Job of that name. */
export async function slurmJobOf({inputs}: Invocation, client: Client, namespace: string): Promise<string | undefined> {
	const [first = '', second, ...more] = inputs;
	const [kind = '', name = second ?? ''] = first.split('/');
	if (more.length > 0 || name === '' || (first.includes('/') && second !== undefined)) return undefined;
	if (kindWords.test(kind)) return name;
	if (!jobWords.test(kind)) return undefined;
	return (await isThere(client, namespace, 'jobs', name)) || !(await isThere(client, namespace, 'slurmjobs', name)) ? undefined : name;
}

async function isThere(client: Client, namespace: string, plural: string, name: string): Promise<boolean> {
	try {
		await getOne(client, resourceOf(plural), namespace, name);
		return true;
	} catch (error) {
		if (error instanceof AppError && error.code === 'ERR_NOT_FOUND') return false;
		throw error;
	}
}

export async function showJobLog(client: Client, {terminal}: Invocation, namespace: string, name: string, wish: LogWish): Promise<number> {
	const {container, follow, raw} = wish;
	if (wish.allContainers || wish.previous || wish.timestamps || Object.keys(wish.from).length > 0)
		throw usageError('the output of a SlurmJob is a file: it has -f, --raw, and -c FILE for another file of it');
	const sink = plainSink({pour: terminal.pour, isShown: terminal.outIsTerminal && !raw});
	const query = {...(container === undefined ? {} : {container}), ...(follow ? {follow} : {})};
	const bytes = await client.stream({path: pathOf(resourceOf('slurmjobs'), namespace, name, 'log'), query, accept: 'text/plain, */*'});
	for await (const piece of bytes) await sink.take(piece);
	await sink.end();
	return 0;
}
