// `troupe logs`: what containers wrote, byte for byte, and with -f what they write.

import type {Invocation} from '../command.js';
import {followLogs} from '../logs/follow.js';
import {showLogs} from '../logs/show.js';
import {showJobLog, slurmJobOf} from '../logs/slurm-job.js';
import {searchesOf, wishOf} from '../logs/wish.js';
import {namespaceOf, withClient} from '../cluster/session.js';

export async function run(invocation: Invocation): Promise<number> {
	const {terminal} = invocation;
	const wish = wishOf(invocation);
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const job = await slurmJobOf(invocation, client, namespace);
		if (job !== undefined) return showJobLog(client, invocation, namespace, job, wish);
		const searches = await searchesOf(invocation, client, namespace);
		if (!wish.follow) return showLogs(client, terminal, namespace, searches, wish);
		await followLogs({client, terminal, namespace, searches, wish});
		return 0;
	});
}
