// `troupe get artifacts`: the files that were fetched of SlurmJobs that are over. They are no objects: their jobs have them.

import {ageOf} from '../../api/duration.js';
import {haveExpired, type SlurmJob} from '../../api/kinds/slurmjob.js';
import {systemClock} from '../../system/time/clock.js';
import {usageError, type Invocation} from '../command.js';
import {listAll} from '../cluster/lists.js';
import {resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {printedWhole} from '../objects/output.js';
import {amount} from '../screen/amount.js';
import {drawTable} from '../screen/table.js';
import {widthFor} from '../screen/text-width.js';

export const isArtifacts = ([first, ...more]: readonly string[]): boolean => /^artifacts?$/i.test(first ?? '') && more.length <= 1;

export function showArtifacts(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [, job] = inputs;
	if (flags.on('watch')) throw usageError('artifacts are not watched: troupe get slurmjobs -w tells when a job is over');
	return withClient(invocation, async client => {
		const namespace = flags.on('all-namespaces') ? undefined : namespaceOf(invocation, client);
		const jobs = (await listAll(client, resourceOf('slurmjobs'), namespace)) as readonly SlurmJob[];
		const nowMs = systemClock.nowMs();
		const rows = jobs
			.filter(({metadata, status}) => (job === undefined || metadata.name === job) && !haveExpired(status, nowMs))
			.flatMap(({metadata, status}) =>
				(status?.artifacts ?? []).map(({name, bytes, digest}) => ({
					...(namespace === undefined ? {namespace: metadata.namespace ?? ''} : {}),
					job: metadata.name,
					name,
					bytes,
					digest,
					expiresAt: status?.expiresAt ?? '',
				})),
			);
		if (await printedWhole(invocation, rows)) return 0;
		if (rows.length === 0) terminal.note(`No artifacts found${namespace === undefined ? '' : ` in ${namespace} namespace`}.`);
		const cells = rows.map(row => [
			...(namespace === undefined ? [row.namespace ?? ''] : []),
			row.job,
			row.name,
			amount(row.bytes),
			ageOf(Math.max(0, Date.parse(row.expiresAt) - nowMs)),
		]);
		const head = [...(namespace === undefined ? ['NAMESPACE'] : []), 'JOB', 'NAME', 'SIZE', 'KEPT'];
		if (rows.length > 0) terminal.out(drawTable(head, cells, await widthFor(cells.flat())));
		return 0;
	});
}
