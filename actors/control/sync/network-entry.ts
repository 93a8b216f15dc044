// What of Services, their endpoints, names, routes and nodes goes to nodes that serve traffic, and under which version. A status goes to none, except
// what a node's says of its addresses.

import {fnv1a} from '../../../api/fnv.js';
import {parseObjectKey, type ObjectKey} from '../../../api/keys.js';
import type {Dns} from '../../../api/kinds/dns.js';
import {serviceNameLabel} from '../../../api/endpoint-labels.js';
import type {EndpointSlice} from '../../../api/kinds/endpointslice.js';
import type {Ingress} from '../../../api/kinds/ingress.js';
import {isTlsSecret} from '../../../api/kinds/secret.js';
import type {NodeObject} from '../../../api/kinds/node.js';
import type {Service} from '../../../api/kinds/service.js';
import type {ApiObject} from '../../../api/object.js';
import type {Known} from '../../../system/index/object-index.js';
import {configVersion, secretKey} from '../../config-references.js';
import {certificateKeysOf, certificateTerm, ingresses, isCertificateKey, networkPlurals} from '../../network-references.js';
import type {NetworkObject} from '../../protocol/network-object.js';
import type {ConfigEntry} from '../../protocol/sync-message.js';

/** By plural: what of an object is told; undefined: nothing of this one. */
const forms: {readonly [plural: string]: (object: ApiObject) => NetworkObject | undefined} = {
	services: object => ({type: 'service', ...placeOf(object), spec: (object as Service).spec ?? {}}),
	endpointslices: endpointsOf,
	dnses(object) {
		const {spec} = object as Dns;
		return spec === undefined ? undefined : {type: 'dns', ...placeOf(object), createdAt: object.metadata.creationTimestamp, spec};
	},
	ingresses(object) {
		const {spec} = object as Ingress;
		return spec === undefined ? undefined : {type: 'ingress', ...placeOf(object), createdAt: object.metadata.creationTimestamp, spec};
	},
	nodes: nodeOf,
};

const placeOf = ({metadata: {namespace = '', name}}: ApiObject) => ({namespace, name});

function endpointsOf(object: ApiObject): NetworkObject | undefined {
	const {metadata, addressType, endpoints, ports} = object as EndpointSlice;
	const service = metadata.labels?.[serviceNameLabel];
	if (service === undefined || service === '') return undefined;
	return {type: 'endpoints', ...placeOf(object), service, addressType, endpoints, ...(ports === undefined ? {} : {ports})};
}

function nodeOf(object: ApiObject): NetworkObject | undefined {
	const {metadata, spec, status} = object as NodeObject;
	if (status?.network === undefined) return undefined;
	const addresses = (status.addresses ?? []).flatMap(({type, address}) =>
		type === 'InternalIP' || type === 'ExternalIP' ? [address] : [],
	);
	const {pods, reach} = status.network;
	return {
		type: 'node',
		name: metadata.name,
		addresses,
		pods,
		...(reach === 'relayed' ? {reach} : {}),
		podCIDR: pods === 'routed' ? spec?.podCIDR : undefined,
	};
}

type Told = {readonly object: NetworkObject; readonly version: string};

/** Found once, for all nodes to which it goes. */
const told = new WeakMap<ApiObject, Told | null>();

function toldOf(plural: string, object: ApiObject | undefined): Told | undefined {
	if (object === undefined) return undefined;
	const known = told.get(object);
	if (known !== undefined) return known ?? undefined;
	const form = forms[plural]?.(object);
	const found = form === undefined ? undefined : {object: form, version: versionOf(form)};
	told.set(object, found ?? null);
	return found;
}

/** Of what is told and nothing else: one that was made again as it was is the same to a node. */
export function versionOf(form: NetworkObject): string {
	const text = JSON.stringify(form);
	return `${text.length.toString(36)}.${fnv1a(text).toString(36)}`;
}

/** The entry of a key for a node that serves traffic. */
export function networkEntryOf(key: ObjectKey, known: Pick<Known, 'get' | 'countByTerm'>): ConfigEntry {
	if (isCertificateKey(key)) return certificateEntryOf(key, known);
	const found = toldOf(parseObjectKey(key).plural, known.get(key));
	if (found === undefined) return {key, version: '', named: null};
	return {key, version: found.version, named: {type: 'network', object: found.object}};
}

/** Of a Secret that an Ingress names: that it is there, and as which version. */
function certificateEntryOf(key: ObjectKey, known: Pick<Known, 'get' | 'countByTerm'>): ConfigEntry {
	const {namespace, name} = parseObjectKey(key);
	const secret = known.get(secretKey(namespace, name));
	if (secret === undefined || known.countByTerm(ingresses, certificateTerm(key)) === 0) return {key, version: '', named: null};
	const version = configVersion(secret);
	return {
		key,
		version,
		named: {type: 'network', object: {type: 'certificate', namespace, name, version, isTls: isTlsSecret(secret)}},
	};
}

/** The certificates that an Ingress named, or names now. */
export const certificatesOf = (...versions: readonly (ApiObject | undefined)[]): ReadonlySet<ObjectKey> =>
	new Set(
		versions.flatMap(each => {
			const {metadata, spec} = (each ?? {}) as Partial<Ingress>;
			return spec === undefined ? [] : certificateKeysOf(spec, metadata?.namespace ?? '');
		}),
	);

/** Whether nodes are told something else after a change of such an object. */
export const isNetworkNews = (plural: string, before: ApiObject | undefined, after: ApiObject | undefined): boolean =>
	toldOf(plural, before)?.version !== toldOf(plural, after)?.version;

/** All that such a node is to have. */
export function* networkKeys(known: Pick<Known, 'list'>, keyOf: (plural: string, object: ApiObject) => ObjectKey): Iterable<ObjectKey> {
	// Before the Ingresses that name them.
	yield* certificatesOf(...known.list(ingresses));
	for (const plural of networkPlurals)
		for (const object of known.list(plural)) if (toldOf(plural, object) !== undefined) yield keyOf(plural, object);
}
