// `troupe expose`: a Service for the pods of an object.

import type {ApiObject} from '../../api/object.js';
import {dryRunOf, reportOf} from '../apply/written.js';
import {createObject} from '../cluster/changes.js';
import {getOne, withKind} from '../cluster/lists.js';
import {displayName, readTargets, resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {type Invocation, usageError} from '../command.js';
import {serviceOf} from '../create/service.js';

const example = 'troupe expose deployment/web --port 80 --target-port 8000';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	if (inputs.length === 0) throw usageError(`expose what? as in: ${example}`);
	const [target, ...others] = readTargets(inputs).flatMap(({resource, names}) => names.map(name => ({resource, name})));
	if (target === undefined || others.length > 0) throw usageError(`expose takes one object, as in: ${example}`);
	const {resource, name} = target;
	if (!exposed.includes(resource.kind))
		throw usageError(`a ${resource.singular} has no pods that a Service could choose; there are ${exposed.join(', ')}`);
	const report = reportOf(terminal, flags, true);
	const dryRun = dryRunOf(flags);
	await withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const object = withKind(await getOne(client, resource, namespace, name), resource);
		const service = serviceOf(object, displayName(resource, name), flags);
		const services = resourceOf('services');
		const made = dryRun === 'client' ? (service as unknown as ApiObject) : await createObject(client, services, namespace, service, dryRun);
		report.say(services, made, 'exposed');
	});
	await report.end();
	return 0;
}

const exposed = ['Pod', 'Service', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'];
