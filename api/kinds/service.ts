// The kind Service: one name and address for the pods of a selector. Its shape is re-exported, so one import serves both.

import {ageColumn, column, nameColumn, none, wideColumn} from '../columns/common.js';
import {withServiceDefaults} from '../defaults/service.js';
import type {KindDefinition} from '../kind.js';
import type {ApiObject} from '../object.js';
import {checkService} from '../rules/service.js';
import {formatSelector} from '../selector-text.js';
import type {Service, ServicePort, ServiceSpec, ServiceStatus} from '../shapes/service.js';

export type * from '../shapes/service.js';

const specOf = (object: ApiObject): ServiceSpec => (object as Service).spec ?? {};

export const service: KindDefinition = {
	kind: 'Service',
	group: '',
	version: 'v1',
	plural: 'services',
	singular: 'service',
	shortNames: ['svc'],
	categories: ['all'],
	namespaced: true,
	defaults: (draft, old) => ({...draft, spec: withServiceDefaults(draft.spec as ServiceSpec, (old as Service | undefined)?.spec)}),
	validate: checkService,
	initialStatus: (): ServiceStatus => ({loadBalancer: {}}),
	columns: [
		nameColumn,
		column('Type', 'How it is reached.', object => specOf(object).type ?? 'ClusterIP'),
		column('Cluster-IP', 'Its address in the cluster.', object => specOf(object).clusterIP ?? none),
		column('External-IP', 'Its address outside.', object => externalText(object as Service)),
		column('Port(s)', 'Where it listens.', object => (specOf(object).ports ?? []).map(portText).join(',') || none),
		ageColumn,
		wideColumn('Selector', 'Which pods serve it.', object => formatSelector({matchLabels: specOf(object).selector ?? {}}) || none),
	],
	selectableFields: {'spec.type': object => specOf(object).type ?? '', 'spec.clusterIP': object => specOf(object).clusterIP ?? ''},
};

const portText = ({port, nodePort, protocol = 'TCP'}: ServicePort): string =>
	`${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol}`;

/** As kubectl: a load balancer's addresses come from its status. */
function externalText({spec = {}, status}: Service): string {
	const {type, externalName, externalIPs = []} = spec;
	if (type === 'ExternalName') return externalName ?? none;
	const ingress = type === 'LoadBalancer' ? (status?.loadBalancer?.ingress ?? []) : [];
	const addresses = [...ingress.flatMap(({ip, hostname}) => ip ?? hostname ?? []), ...externalIPs];
	return addresses.join(',') || (type === 'LoadBalancer' ? '<pending>' : none);
}
