// `troupe create`: objects that are not there yet, from files, or from the words of the command line.

import type {CronJob} from '../../api/kinds/cronjob.js';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {carryOut} from '../apply/carry-out.js';
import {filesOf} from '../apply/check.js';
import {uploadCode, withCode} from '../apply/code.js';
import {creating} from '../apply/plan.js';
import {checkHereAlone} from '../apply/check-here.js';
import {dryRunOf, reportOf} from '../apply/written.js';
import {type Invocation, usageError} from '../command.js';
import {objectByName} from '../create/by-name.js';
import {instanceOf, jobOfCronJob} from '../create/job.js';
import {withInstaller} from '../function/install.js';
import {createObject} from '../cluster/changes.js';
import {getOne} from '../cluster/lists.js';
import {namespaceOf, withClient} from '../cluster/session.js';

export function run(invocation: Invocation): Promise<number> {
	const {flags, inputs} = invocation;
	if (flags.texts('filename').length === 0) {
		if (inputs.length > 0) return byName(invocation);
		throw usageError('create what? as in: troupe create -f pod.yaml, or: troupe create namespace shop');
	}
	return withInstaller(invocation, install =>
		carryOut(invocation, {
			command: 'create',
			read: async asked => withCode(await filesOf(asked), install),
			before: uploadCode,
			planner: creating,
			mayGenerate: true,
			unasked: 'created',
			write: async (client, {write}) => (write === undefined ? undefined : ((await client.json(write)) as ApiObject)),
			became: () => 'created',
		}),
	);
}

async function byName(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const program = invocation.afterDashes ?? [];
	const words = inputs.slice(0, inputs.length - program.length);
	if (flags.text('from') !== undefined) return fromCronJob(invocation, words);
	const {resource, object} = await objectByName(words, program, flags);
	const report = reportOf(terminal, flags, true);
	const dryRun = dryRunOf(flags);
	if (dryRun === 'client') {
		checkHereAlone(object);
		const namespace = flags.text('namespace');
		const metadata = {...(object['metadata'] as JsonObject), ...(resource.namespaced && namespace !== undefined ? {namespace} : {})};
		report.say(resource, {...object, metadata} as unknown as ApiObject, 'created');
	} else {
		await withClient(invocation, async client => {
			report.say(resource, await createObject(client, resource, namespaceOf(invocation, client), object, dryRun), 'created');
		});
	}
	await report.end();
	return 0;
}

/** A job of a CronJob, made out of its turn. */
async function fromCronJob(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags, terminal} = invocation;
	const {resource, name, from} = instanceOf(words, invocation.afterDashes ?? [], flags);
	const report = reportOf(terminal, flags, true);
	const dryRun = dryRunOf(flags);
	await withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const cron = (await getOne(client, from.resource, namespace, from.name)) as CronJob;
		const object = jobOfCronJob(name, cron);
		const made = dryRun === 'client' ? (object as unknown as ApiObject) : await createObject(client, resource, namespace, object, dryRun);
		report.say(resource, made, 'created');
	});
	await report.end();
	return 0;
}
