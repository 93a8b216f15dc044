// The logins that imagePullSecrets hold for an image, matched as the kubelet does: by the registry's host, part by part, and the beginning of
// the path. Pure; what comes out is secret.
//
// Source: k8s.io/kubernetes/pkg/credentialprovider (keyring.go, config.go).

import {limits} from '../../../api/limits.js';
import type {JsonObject} from '../../../api/object.js';
import {membersOf} from '../../../api/rules/report.js';
import {parsedJson} from '../../../api/value-or.js';
import type {SecretData} from '../../../actors/node/runtime/secrets-port.js';
import {hub, oldHub} from './docker-hub.js';
import {matchesGlob} from './glob.js';
import type {ImageReference} from './image-reference.js';

/** As the Engine takes them. */
export type Credentials = {readonly username: string; readonly password: string; readonly serveraddress: string};

/** A login, and what of which registry it is for. */
type Entry = Place & {readonly credentials: Credentials};
type Place = {readonly labels: readonly string[]; readonly port: string; readonly path: string; readonly key: string};

/** Those that may open the image, the one for the longest place first; at most `pullCredentials`. Entries that are none are passed over. */
export function credentialsFor({registry, path}: ImageReference, secrets: readonly SecretData[]): readonly Credentials[] {
	const wanted = placeAt(registry, `/${path}`);
	if (wanted === undefined) return [];
	const matching = secrets.flatMap(entriesOf).filter(entry => matches(entry, wanted));
	matching.sort((one, other) => (one.key === other.key ? 0 : one.key < other.key ? 1 : -1));
	const found = matching.map(({credentials}) => credentials);
	return [...new Map(found.map(each => [`${each.username}\n${each.password}`, each])).values()].slice(0, limits.pullCredentials);
}

function entriesOf(secret: SecretData): readonly Entry[] {
	const config = textOf(secret['.dockerconfigjson']);
	const auths = config === undefined ? jsonOf(textOf(secret['.dockercfg'])) : membersOf(jsonOf(config))['auths'];
	return Object.entries(membersOf(auths)).flatMap(([location, login]) => entryOf(location, membersOf(login)));
}

const textOf = (base64: string | undefined): string | undefined =>
	base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('utf8');

const jsonOf = (text: string | undefined): unknown => (text === undefined ? undefined : parsedJson(text));

function entryOf(location: string, login: JsonObject): readonly Entry[] {
	const place = placeOf(location);
	const pair = pairOf(login);
	if (place === undefined || pair === undefined) return [];
	return [{...place, credentials: {...pair, serveraddress: location}}];
}

/** `auth` is `user:password` in base64 and stands for both. */
function pairOf({auth, username, password}: JsonObject): {username: string; password: string} | undefined {
	if (typeof auth === 'string' && auth !== '') {
		const text = Buffer.from(auth, 'base64').toString('utf8');
		const colon = text.indexOf(':');
		return colon < 0 ? undefined : {username: text.slice(0, colon), password: text.slice(colon + 1).replace(/\0+$/, '')};
	}
	return typeof username === 'string' && typeof password === 'string' ? {username, password} : undefined;
}

/** `https://host/v1/` is the host alone: versions of the registry's protocol are no part of a place. Docker's own has two names. */
function placeOf(location: string): Place | undefined {
	if (location.length > limits.registryPlaceCharacters) return undefined;
	const bare = location.replace(/^https?:\/\//, '');
	const slash = bare.indexOf('/');
	const path = (slash < 0 ? '' : bare.slice(slash)).replace(/^\/v[12](?=\/|$)/, '');
	return placeAt(slash < 0 ? bare : bare.slice(0, slash), path);
}

/** Undefined: there is no host. */
function placeAt(authority: string, path: string): Place | undefined {
	const [, name = '', port = ''] = /^(.*?)(?::(\d+))?$/.exec(authority) ?? [];
	if (name === '') return undefined;
	const host = name === oldHub ? hub : name;
	return {labels: host.split('.'), port, path: path === '/' ? '' : path, key: `${host}:${port}${path}`};
}

const matches = (entry: Place, wanted: Place): boolean =>
	entry.port === wanted.port &&
	entry.labels.length === wanted.labels.length &&
	wanted.path.startsWith(entry.path) &&
	entry.labels.every((glob, i) => matchesGlob(glob, wanted.labels[i] ?? ''));
