// v1 Events are no objects of the store: they are a view of what the control plane keeps about each object. Here is what the
// view's kind looks like, for discovery, tables and field selectors.

import {column, wideColumn} from '../../api/columns/common.js';
import type {KindDefinition} from '../../api/kind.js';
import type {ApiObject} from '../../api/object.js';
import {ageSince} from '../../api/duration.js';

/** Kubernetes' v1 Event, as far as it is shown. It has no spec: its fields lie beside metadata. */
export type EventObject = ApiObject & {
	readonly type: 'Normal' | 'Warning';
	readonly reason: string;
	readonly message: string;
	readonly count: number;
	readonly firstTimestamp: string;
	readonly lastTimestamp: string;
	readonly involvedObject: {
		readonly kind: string;
		readonly apiVersion: string;
		readonly namespace?: string;
		readonly name: string;
		readonly uid?: string;
		readonly fieldPath?: string;
	};
	readonly source: {readonly component: string};
	readonly reportingComponent: string;
	readonly reportingInstance: string;
};

const event = (object: ApiObject): EventObject => object as EventObject;

export const eventKind: KindDefinition = {
	kind: 'Event',
	group: '',
	version: 'v1',
	plural: 'events',
	singular: 'event',
	shortNames: ['ev'],
	namespaced: true,
	defaults: draft => draft,
	validate: () => undefined,
	columns: [
		column('Last Seen', 'How long ago it happened last', (object, nowMs) => ageSince(event(object).lastTimestamp, nowMs)),
		column('Type', 'Normal or Warning', object => event(object).type),
		column('Reason', 'One word for what happened', object => event(object).reason),
		column('Object', 'What it happened to', object => {
			const {kind, name} = event(object).involvedObject;
			return `${kind.toLowerCase()}/${name}`;
		}),
		wideColumn('Subobject', 'The part of it that it happened to', object => event(object).involvedObject.fieldPath ?? ''),
		column('Message', 'What happened and why', object => event(object).message),
		{name: 'Count', type: 'integer', priority: 1, description: 'How often it happened', cell: object => event(object).count},
	],
	selectableFields: {
		'involvedObject.kind': object => event(object).involvedObject.kind,
		'involvedObject.namespace': object => event(object).involvedObject.namespace ?? '',
		'involvedObject.name': object => event(object).involvedObject.name,
		'involvedObject.uid': object => event(object).involvedObject.uid ?? '',
		'involvedObject.apiVersion': object => event(object).involvedObject.apiVersion,
		'involvedObject.resourceVersion': () => '',
		'involvedObject.fieldPath': object => event(object).involvedObject.fieldPath ?? '',
		reason: object => event(object).reason,
		type: object => event(object).type,
		source: object => event(object).source.component,
		reportingComponent: object => event(object).reportingComponent,
	},
};
