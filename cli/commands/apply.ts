// `troupe apply`: everything is read and checked before the first write, so that bad input changes nothing.

import {rowOf} from '../../api/errors.js';
import type {ApiObject} from '../../api/object.js';
import {locateProblems} from '../apply/located.js';
import {planAll, type Planned} from '../apply/plan.js';
import {prepareAll} from '../apply/prepare.js';
import {isRemembered} from '../three-way.js';
import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {readManifests} from '../manifest-files.js';
import {displayName} from '../resources.js';
import {namespaceOf, withClient} from '../session.js';
import type {Terminal} from '../terminal.js';
import {usageError} from '../usage.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	if (inputs.length > 0) throw usageError(`apply takes files with -f, as in: troupe apply -f ${inputs.join(' -f ')}`);
	const documents = await readManifests(flags.texts('filename'), terminal.input);
	return withClient(invocation, async client => {
		const where = {namespace: namespaceOf(invocation, client), isDemanded: flags.text('namespace') !== undefined};
		const prepared = await prepareAll(client, documents, where);
		for (const {document, notes, object} of prepared)
			for (const note of [...notes, ...(isRemembered(object) ? [] : [tooLarge])]) terminal.note(`note: ${document.locate('')}: ${note}`);
		const planned = await planAll(client, prepared);
		let exitCode = 0;
		for (const one of planned) exitCode = Math.max(exitCode, await write(client, one, flags.on('dry-run'), terminal));
		return exitCode;
	});
}

const tooLarge = 'too large for apply to remember: what a later version of it leaves out is not removed, only what it names is changed';

/** Writes one object and says what became of it. A failure here is told, and the others are written all the same. */
async function write(client: Client, {prepared, live, write}: Planned, isDryRun: boolean, terminal: Terminal): Promise<number> {
	const say = (what: string) => terminal.out(`${displayName(prepared.resource, prepared.name)} ${what}${isDryRun ? ' (dry run)' : ''}\n`);
	if (live?.metadata.deletionTimestamp !== undefined)
		terminal.note(`warning: ${displayName(prepared.resource, prepared.name)} is being deleted; apply again when it is gone`);
	if (write === undefined) {
		say('unchanged');
		return 0;
	}
	try {
		const written = isDryRun ? undefined : ((await client.json(write)) as ApiObject);
		say(live === undefined ? 'created' : written?.metadata.resourceVersion === live.metadata.resourceVersion ? 'unchanged' : 'configured');
		return 0;
	} catch (error) {
		const problems = locateProblems(error, prepared.document, prepared.renamed);
		for (const {line} of problems) terminal.error(line);
		return Math.max(...problems.map(problem => rowOf(problem.error.code).exitCode));
	}
}
