// `troupe autoscale`: a HorizontalPodAutoscaler for what has replicas.

import type {ApiObject} from '../../api/object.js';
import {dryRunOf, reportOf} from '../apply/written.js';
import {createObject} from '../cluster/changes.js';
import {getOne} from '../cluster/lists.js';
import {readTargets, resourceOf, type Resource} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {type Invocation, usageError} from '../command.js';
import {autoscalerOf} from '../create/autoscaler.js';

const example = 'troupe autoscale deployment/web --min 1 --max 4 --cpu-percent 50';

type Target = {readonly resource: Resource; readonly name: string};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const given = flags.text('target');
	const {resource, name} = given === undefined ? ofInputs(inputs) : ofFlag(given);
	// The older dialects name the autoscaler where kubectl names its target.
	const [own, ...others] = given === undefined ? [] : inputs;
	if (others.length > 0)
		throw usageError(
			`beside --target there is one name, that of the autoscaler, as in: troupe autoscale web --target deployment/web --max 4`,
		);
	if (!scaled.includes(resource.kind)) throw usageError(`a ${resource.singular} cannot be scaled; there are ${scaled.join(', ')}`);
	const draft = autoscalerOf({name: flags.text('name') ?? own ?? name, resource, target: name}, flags);
	const report = reportOf(terminal, flags, true);
	const dryRun = dryRunOf(flags);
	await withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		await getOne(client, resource, namespace, name);
		const autoscalers = resourceOf('horizontalpodautoscalers');
		const made = dryRun === 'client' ? (draft as unknown as ApiObject) : await createObject(client, autoscalers, namespace, draft, dryRun);
		report.say(autoscalers, made, 'autoscaled');
	});
	await report.end();
	return 0;
}

function ofInputs(inputs: readonly string[]): Target {
	if (inputs.length === 0) throw usageError(`autoscale what? as in: ${example}`);
	const [target, ...others] = readTargets(inputs).flatMap(({resource, names}) => names.map(name => ({resource, name})));
	if (target === undefined || others.length > 0) throw usageError(`autoscale takes one object, as in: ${example}`);
	return target;
}

/** `KIND/NAME`; a bare name is that of a ReplicaSet, as the older dialect has it. */
function ofFlag(text: string): Target {
	if (!text.includes('/')) return {resource: resourceOf('replicasets'), name: text};
	return ofInputs([text]);
}

const scaled = ['Deployment', 'ReplicaSet', 'StatefulSet', 'Pod', 'Function'];
