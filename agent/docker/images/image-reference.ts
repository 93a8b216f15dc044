// The name of an image, as Docker's reference grammar has it. Pure.
//
// Source: https://github.com/distribution/reference (regexp.go, normalize.go).

import {hub, oldHub} from './docker-hub.js';

export type ImageReference = {
	/** The registry's host, with its port if it has one: Docker's own where the name has none. */
	readonly registry: string;
	/** Within the registry: `library/nginx`. */
	readonly path: string;
	/** Undefined where there is a digest, which says all. */
	readonly tag: string | undefined;
	/** `sha256:…`. */
	readonly digest: string | undefined;
	/** All of it, canonical: what the Engine is asked for. It needs no escaping in a path. */
	readonly name: string;
};

const longestName = 1_024;
const nameCharacters = 255;

const host = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;
const component = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const tagForm = /^\w[\w.-]{0,127}$/;
const digestForm = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,128}$/;
/** An image's id is no name: Docker refuses it as one. */
const idForm = /^[0-9a-f]{64}$/;

/** Undefined for what is no name of an image: a letter that is not lower case in its path, a tag of other characters, an id. */
export function parseImageReference(text: string): ImageReference | undefined {
	if (text.length > longestName || idForm.test(text)) return undefined;
	const at = text.indexOf('@');
	const digest = at < 0 ? undefined : text.slice(at + 1);
	const named = at < 0 ? text : text.slice(0, at);
	const colon = named.lastIndexOf(':');
	const isTagged = colon > named.lastIndexOf('/');
	const tag = isTagged ? named.slice(colon + 1) : undefined;
	const {registry, path} = partsOf(isTagged ? named.slice(0, colon) : named);
	const isWell =
		host.test(registry) &&
		path.split('/').every(each => component.test(each)) &&
		`${registry}/${path}`.length <= nameCharacters &&
		(tag === undefined || tagForm.test(tag)) &&
		(digest === undefined || digestForm.test(digest));
	if (!isWell) return undefined;
	if (digest !== undefined) return {registry, path, tag: undefined, digest, name: `${registry}/${path}@${digest}`};
	return {registry, path, tag: tag ?? 'latest', digest, name: `${registry}/${path}:${tag ?? 'latest'}`};
}

/** What is before the first slash is a registry if it looks like a host: it has a dot or a port, or is `localhost`. */
function partsOf(name: string): Pick<ImageReference, 'registry' | 'path'> {
	const slash = name.indexOf('/');
	const first = slash < 0 ? '' : name.slice(0, slash);
	if (!/[.:]/.test(first) && first !== 'localhost') return hubPart(name);
	return first === hub || first === oldHub ? hubPart(name.slice(slash + 1)) : {registry: first, path: name.slice(slash + 1)};
}

const hubPart = (path: string): Pick<ImageReference, 'registry' | 'path'> => ({
	registry: hub,
	path: path.includes('/') ? path : `library/${path}`,
});
