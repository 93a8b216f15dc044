import test from 'ava';
import type {ApiObject, JsonObject} from '../../api/object.js';
import {applying} from '../../cli/apply/plan.js';
import type {Prepared} from '../../cli/apply/prepare.js';
import {resourceOf} from '../../cli/cluster/resources.js';
import {withLastApplied} from '../../cli/manifests/three-way.js';

const kept = withLastApplied({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {name: 'a'},
	spec: {nodeName: 'n', containers: [{name: 'main', image: 'one'}]},
});
const live = {...kept, metadata: {...(kept['metadata'] as JsonObject), resourceVersion: '7'}} as unknown as ApiObject;

/** The resourceVersion that the patch to this spec is bound to. */
function versionOf(spec: JsonObject, metadata: JsonObject = {}): unknown {
	const object: JsonObject = {apiVersion: 'v1', kind: 'Pod', metadata: {name: 'a', ...metadata}, spec};
	const prepared = {document: {}, resource: resourceOf('pods'), namespace: 'default', name: 'a', object} as unknown as Prepared;
	const write = applying.writeOf(prepared, live);
	return [write?.method, ((write?.body as JsonObject | undefined)?.['metadata'] as JsonObject | undefined)?.['resourceVersion']];
}

test('a patch that sends a list is meant for what was read: the list would take away what others put into it', t => {
	t.deepEqual(versionOf({nodeName: 'n', containers: [{name: 'main', image: 'two'}]}), ['PATCH', '7']);
	t.deepEqual(versionOf({nodeName: 'm', containers: [{name: 'main', image: 'one'}]}), ['PATCH', undefined], 'no list is sent');
});

test('a manifest that says its version keeps it', t => {
	t.deepEqual(versionOf({nodeName: 'n', containers: [{name: 'main', image: 'two'}]}, {resourceVersion: '5'}), ['PATCH', '5']);
});
