// Names of one object in three places: the index key, the store key and the actor address. One builder and one parser each.

/** `plural/namespace/name`; the namespace of a cluster-scoped kind is `_`. */
export type ObjectKey = string;

export type KeyParts = {readonly plural: string; readonly namespace: string; readonly name: string};

/** Stands for the namespace of a cluster-scoped object. */
export const clusterScope = '_';

export const objectKey = (plural: string, namespace: string | undefined, name: string): ObjectKey =>
	`${plural}/${namespace ?? clusterScope}/${name}`;

export function parseObjectKey(key: ObjectKey): KeyParts {
	const [plural = '', namespace = '', name = ''] = key.split('/');
	return {plural, namespace, name};
}

const registryPrefix = '/troupe/registry/';
const eventsPrefix = '/troupe/events/';

/** Where the store keeps an object. */
export const storeKey = (key: ObjectKey): string => registryPrefix + key;

/** Where the store keeps the events about an object. */
export const eventsStoreKey = (key: ObjectKey): string => eventsPrefix + key;

/** What a store key holds, or undefined for a key that is neither. */
export function parseStoreKey(key: string): {readonly holds: 'object' | 'events'; readonly key: ObjectKey} | undefined {
	if (key.startsWith(registryPrefix)) return {holds: 'object', key: key.slice(registryPrefix.length)};
	if (key.startsWith(eventsPrefix)) return {holds: 'events', key: key.slice(eventsPrefix.length)};
	return undefined;
}

/** Every key of ours in a store that may be shared. */
export const storePrefix = '/troupe/';
/** The fence: counter, epoch and lineage of the whole store. */
export const metaStoreKey = '/troupe/meta';
/** Sealed things of the control plane: CA, token hashes. */
export const vaultStoreKey = (name: string): string => `/troupe/vault/${name}`;

const artifactsPrefix = '/troupe/artifacts/';

/** Of an artifact of functions: the record that makes it complete, or one of those that its bytes are in. */
export type ArtifactPart = 'meta' | number;

/** Where the store keeps a part of an artifact; `hex` is its digest without `sha256:`. No such key begins another one. */
export const artifactStoreKey = (hex: string, part: ArtifactPart): string =>
	`${artifactsPrefix}${hex}/${part === 'meta' ? part : String(part).padStart(partDigits, '0')}`;

const partDigits = 6;

/** What a store key has of an artifact; undefined for any other key. */
export function parseArtifactStoreKey(key: string): {readonly hex: string; readonly part: ArtifactPart} | undefined {
	const [, hex = '', part = ''] = /^\/troupe\/artifacts\/([0-9a-f]{64})\/(meta|\d{6})$/.exec(key) ?? [];
	return hex === '' ? undefined : {hex, part: part === 'meta' ? part : Number(part)};
}

const partsPrefix = '/troupe/parts/';
const historyPrefix = '/troupe/history/';

/** Where the store keeps a part of an object, and one record of its history: these sort by number. */
export const partStoreKey = (key: ObjectKey, name: string): string => `${partsPrefix}${key}/${name}`;
export const historyStoreKey = (key: ObjectKey, number: number): string =>
	`${historyPrefix}${key}/${String(number).padStart(historyDigits, '0')}`;

const historyDigits = 12;

/** What a store key has beside an object; undefined for any other key. */
export function parseBesideStoreKey(
	key: string,
): {readonly key: ObjectKey; readonly part: string} | {readonly key: ObjectKey; readonly number: number} | undefined {
	const [, object = '', part = ''] = /^\/troupe\/parts\/([^/]+\/[^/]+\/[^/]+)\/(.*)$/s.exec(key) ?? [];
	if (object !== '') return {key: object, part};
	const [, owner = '', number = ''] = /^\/troupe\/history\/([^/]+\/[^/]+\/[^/]+)\/(\d{12})$/.exec(key) ?? [];
	return owner === '' ? undefined : {key: owner, number: Number(number)};
}

const deliveriesPrefix = '/troupe/deliveries/';
const resultsPrefix = '/troupe/results/';

/** Where the store keeps what is to be delivered to a function, and the answer of one that is fetched later. Ids of later ones sort behind. */
export const deliveryStoreKey = (id: string): string => deliveriesPrefix + id;
export const resultStoreKey = (id: string): string => resultsPrefix + id;

/** All have the same length, so no key begins another one. */
export const deliveryId = (epoch: number, number: number, random: string): string =>
	`${String(epoch).padStart(12, '0')}-${String(number).padStart(12, '0')}-${random}`;

export const isDeliveryId = (text: string): boolean => /^\d{12}-\d{12}-[0-9a-f]{16}$/.test(text);

/** What a store key has of a delivery; undefined for any other key. */
export function parseDeliveryStoreKey(key: string): {readonly holds: 'delivery' | 'result'; readonly id: string} | undefined {
	for (const [prefix, holds] of [[deliveriesPrefix, 'delivery'] as const, [resultsPrefix, 'result'] as const])
		if (key.startsWith(prefix) && isDeliveryId(key.slice(prefix.length))) return {holds, id: key.slice(prefix.length)};
	return undefined;
}

/**
 * What a start of the control plane keeps of a record. What is large is read when it is asked for: of parts of artifacts and of histories nothing
 * is kept, of deliveries and their answers their first line.
 */
export function bodyAtLoad(key: string, body: string): string {
	if (key.startsWith(artifactsPrefix)) return key.endsWith('/meta') ? body : '';
	if (key.startsWith(historyPrefix)) return '';
	if (!key.startsWith(deliveriesPrefix) && !key.startsWith(resultsPrefix)) return body;
	const end = body.indexOf('\n');
	// Of a slice the engine would keep all of the text.
	return end === -1 ? body : Buffer.from(body.slice(0, end)).toString();
}

/** `troupe://system/path`. */
export type Address = string;

const scheme = 'troupe://';

export const address = (system: string, path: string): Address => `${scheme}${system}/${path}`;

/** The system and the path of an address; undefined when the text is none. */
export function parseAddress(text: Address): {readonly system: string; readonly path: string} | undefined {
	if (!text.startsWith(scheme)) return undefined;
	const slash = text.indexOf('/', scheme.length);
	if (slash < 0) return undefined;
	return {system: text.slice(scheme.length, slash), path: text.slice(slash + 1)};
}

/** The path of an object's actor inside its system: `pods/default.web-1`, `nodes/node-a`. */
export function objectPath(key: ObjectKey): string {
	const {plural, namespace, name} = parseObjectKey(key);
	return namespace === clusterScope ? `${plural}/${name}` : `${plural}/${namespace}.${name}`;
}

/** The name of the control plane's system. */
export const controlSystem = 'control';

export const objectAddress = (key: ObjectKey): Address => address(controlSystem, objectPath(key));
export const collectionAddress = (plural: string): Address => address(controlSystem, plural);
