// What there is, as kubectl asks for it: versions, groups and resources, plain and aggregated. All of it follows from the
// catalogue and the views, so a new kind is discovered without a line here.

import {apiVersionOf, kinds, olderVersions} from '../../api/catalogue.js';
import type {KindDefinition} from '../../api/kind.js';
import {eventKind} from './event-kind.js';
import {evictionPart} from './eviction.js';
import type {Backend, Exchange} from './exchange.js';
import {nodeMetricsKind, podMetricsKind} from './metrics-kinds.js';
import {discoveryFormOf} from './negotiate.js';
import {sendJson, sendText} from './reply.js';

const readVerbs = ['get', 'list'];
const allVerbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const partVerbs = ['get', 'patch', 'update'];

type Resource = {readonly kind: KindDefinition; readonly verbs: readonly string[]; readonly parts: readonly Part[]};
type Part = {
	readonly name: string;
	readonly kind: string;
	readonly group?: string;
	readonly version?: string;
	readonly verbs: readonly string[];
};

const scalePart: Part = {name: 'scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: partVerbs};

const podParts: readonly Part[] = [
	{name: 'log', kind: 'Pod', verbs: ['get']},
	{name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get']},
	{name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get']},
	{name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get']},
	{name: 'retry', kind: 'Pod', verbs: ['create']},
	evictionPart,
];

const resources: readonly Resource[] = [
	...kinds.map(kind => ({kind, verbs: allVerbs, parts: partsOf(kind)})),
	// Behind the versions that are kept: the first of a group is the one that clients take.
	...olderVersions.map(({kind}) => ({kind, verbs: allVerbs, parts: partsOf(kind)})),
	...[eventKind, nodeMetricsKind, podMetricsKind].map(kind => ({kind, verbs: readVerbs, parts: []})),
];

function partsOf(kind: KindDefinition): readonly Part[] {
	return [
		{name: 'status', kind: kind.kind, verbs: partVerbs},
		...(kind.scalable ? [scalePart] : []),
		...(kind.kind === 'Pod' ? podParts : []),
	];
}

/** `GET /version`. Clients of Kubernetes pick their behaviour by the minor version; ours is behind the dash. */
export function versionInfo({version}: Backend, {response}: Exchange): void {
	sendJson(response, 200, {
		major: '1',
		minor: '32',
		gitVersion: `v1.32.0-troupe.${version}`,
		gitCommit: '',
		gitTreeState: 'clean',
		buildDate: '1970-01-01T00:00:00Z',
		goVersion: '',
		compiler: 'node',
		platform: `${process.platform}/${process.arch}`,
	});
}

/** `GET /api`: the core group. */
export function coreVersions(_backend: Backend, exchange: Exchange): void {
	const form = discoveryFormOf(exchange.request.headers.accept);
	if (form !== 'plain') return sendAggregated(exchange, form, ['']);
	sendJson(exchange.response, 200, {kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: []});
}

/** `GET /apis`: every other group. */
export function groupList(_backend: Backend, exchange: Exchange): void {
	const form = discoveryFormOf(exchange.request.headers.accept);
	if (form !== 'plain') return sendAggregated(exchange, form, namedGroups());
	sendJson(exchange.response, 200, {kind: 'APIGroupList', apiVersion: 'v1', groups: namedGroups().map(groupDocument)});
}

/** `GET /apis/<group>`. */
export const groupInfo =
	(group: string) =>
	(_backend: Backend, {response}: Exchange): void =>
		sendJson(response, 200, {kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group)});

/** `GET /api/v1` and `GET /apis/<group>/<version>`. */
export const resourceList =
	(group: string, version: string) =>
	(_backend: Backend, {response}: Exchange): void =>
		sendJson(response, 200, {
			kind: 'APIResourceList',
			apiVersion: 'v1',
			groupVersion: apiVersionOf({group, version}),
			resources: resourcesOf(group, version).flatMap(rowsOf),
		});

/** An empty schema, as protobuf has it: clients validate nothing and leave it to the server. */
export const openApi = (_backend: Backend, {response}: Exchange): void =>
	sendText(response, 200, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf', '');

const namedGroups = (): readonly string[] => [...new Set(resources.map(({kind}) => kind.group))].filter(group => group !== '');

/** The versions of a group, the preferred one first. */
const versionsOf = (group: string): readonly string[] => [
	...new Set(resources.filter(({kind}) => kind.group === group).map(({kind}) => kind.version)),
];

/** Every group with its versions; the core group is ''. */
export const groupVersions = (): readonly {readonly group: string; readonly version: string}[] =>
	['', ...namedGroups()].flatMap(group => versionsOf(group).map(version => ({group, version})));

const resourcesOf = (group: string, version: string): readonly Resource[] =>
	resources.filter(({kind}) => kind.group === group && kind.version === version);

function groupDocument(group: string) {
	const versions = versionsOf(group).map(version => ({groupVersion: apiVersionOf({group, version}), version}));
	return {name: group, versions, preferredVersion: versions[0]};
}

const rowsOf = ({kind, verbs, parts}: Resource) => [
	{
		name: kind.plural,
		singularName: kind.singular,
		namespaced: kind.namespaced,
		kind: kind.kind,
		verbs,
		shortNames: kind.shortNames,
		categories: kind.categories ?? [],
	},
	...parts.map(({name, ...part}) => ({name: `${kind.plural}/${name}`, singularName: '', namespaced: kind.namespaced, ...part})),
];

function sendAggregated({response}: Exchange, form: 'v2' | 'v2beta1', groups: readonly string[]): void {
	const items = groups.map(group => ({
		metadata: group === '' ? {} : {name: group},
		versions: versionsOf(group).map(version => ({
			version,
			freshness: 'Current',
			resources: resourcesOf(group, version).map(aggregatedOf),
		})),
	}));
	const document = {kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${form}`, metadata: {}, items};
	// Only with exactly these parameters is the document read as what it is.
	sendText(response, 200, `application/json;g=apidiscovery.k8s.io;v=${form};as=APIGroupDiscoveryList`, JSON.stringify(document));
}

const aggregatedOf = ({kind, verbs, parts}: Resource) => ({
	resource: kind.plural,
	responseKind: {group: kind.group, version: kind.version, kind: kind.kind},
	scope: kind.namespaced ? 'Namespaced' : 'Cluster',
	singularResource: kind.singular,
	verbs,
	shortNames: kind.shortNames,
	categories: kind.categories ?? [],
	subresources: parts.map(part => ({
		subresource: part.name,
		responseKind: {group: part.group ?? kind.group, version: part.version ?? kind.version, kind: part.kind},
		verbs: part.verbs,
	})),
});
