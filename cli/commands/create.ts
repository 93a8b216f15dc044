// `troupe create`: objects that are not there yet, from files, or from the words of the command line.

import type {ApiObject, JsonObject} from '../../api/object.js';
import {carryOut} from '../apply/carry-out.js';
import {creating} from '../apply/plan.js';
import {checkHereAlone} from '../apply/check-here.js';
import {dryRunOf, reportOf} from '../apply/written.js';
import {type Invocation, usageError} from '../command.js';
import {objectByName} from '../create/by-name.js';
import {pathOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';

export function run(invocation: Invocation): Promise<number> {
	const {flags, inputs} = invocation;
	if (flags.texts('filename').length === 0) {
		if (inputs.length > 0) return byName(invocation);
		throw usageError('create what? as in: troupe create -f pod.yaml, or: troupe create namespace shop');
	}
	return carryOut(invocation, {
		command: 'create',
		planner: creating,
		mayGenerate: true,
		unasked: 'created',
		write: async (client, {write}) => (write === undefined ? undefined : ((await client.json(write)) as ApiObject)),
		became: () => 'created',
	});
}

async function byName(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const {resource, object} = await objectByName(inputs, flags);
	const report = reportOf(terminal, flags, true);
	const dryRun = dryRunOf(flags);
	if (dryRun === 'client') {
		checkHereAlone(object);
		const namespace = flags.text('namespace');
		const metadata = {...(object['metadata'] as JsonObject), ...(resource.namespaced && namespace !== undefined ? {namespace} : {})};
		report.say(resource, {...object, metadata} as unknown as ApiObject, 'created');
	} else {
		await withClient(invocation, async client => {
			const made = await client.json({
				method: 'POST',
				path: pathOf(resource, namespaceOf(invocation, client)),
				query: {fieldManager: 'troupe', ...(dryRun === undefined ? {} : {dryRun: 'All'})},
				body: object,
			});
			report.say(resource, made as ApiObject, 'created');
		});
	}
	await report.end();
	return 0;
}
