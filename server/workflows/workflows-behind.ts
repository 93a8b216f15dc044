// From the runs of which workflows an object comes: so that none of them is started by what it does itself.

import {kindOf} from '../../api/catalogue.js';
import {objectKey} from '../../api/keys.js';
import type {Run} from '../../api/kinds/run.js';
import {limits} from '../../api/limits.js';
import type {ApiObject, OwnerReference} from '../../api/object.js';
import {causesOf} from '../../api/triggered-run.js';
import type {ControlPlane} from '../control-plane.js';

export type Owners = {readonly index: Pick<ControlPlane['index'], 'byUid'>; readonly departed: Pick<ControlPlane['departed'], 'of'>};

/**
 * Names of workflows of the object's namespace, each once: of the workflow that it is, of the run that it is or belongs to, of the runs that this one is
 * a task of, and of those because of which it was started. Owners that are gone are known as long as their journal is.
 */
export function workflowsBehind(object: ApiObject, owners: Owners): readonly string[] {
	const workflows = new Set<string>();
	const seen = new Set<string>([object.metadata.uid]);
	const left: ApiObject[] = [object];
	for (let one = left.pop(); one !== undefined; one = left.pop()) {
		if (one.kind === 'Workflow') workflows.add(one.metadata.name);
		if (one.kind === 'Run') for (const name of [...causesOf(one), (one as Run).spec?.workflow ?? '']) workflows.add(name);
		for (const reference of one.metadata.ownerReferences ?? []) {
			if (seen.has(reference.uid) || seen.size > limits.workflowOwners) continue;
			seen.add(reference.uid);
			const owner = ownerOf(reference, object.metadata.namespace, owners);
			if (owner !== undefined) left.push(owner);
		}
	}
	return [...workflows];
}

function ownerOf(
	{apiVersion, kind, name, uid}: OwnerReference,
	namespace: string | undefined,
	{index, departed}: Owners,
): ApiObject | undefined {
	const present = index.byUid(uid);
	if (present !== undefined) return present;
	const definition = kindOf(apiVersion, kind);
	if (definition === undefined) return undefined;
	const gone = departed.of(objectKey(definition.plural, definition.namespaced ? namespace : undefined, name))?.object;
	return gone?.metadata.uid === uid ? gone : undefined;
}
