// The name of an image in full, as Docker completes it. Pure.
//
// Source: https://github.com/distribution/reference (normalize.go).

import {readImageName} from '../../../api/image-name.js';
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

/** Undefined for what is no name of an image. */
export function parseImageReference(text: string): ImageReference | undefined {
	const read = readImageName(text);
	if (typeof read === 'string') return undefined;
	const {digest} = read;
	const isOfHub = read.registry === undefined || read.registry === hub || read.registry === oldHub;
	const {registry, path} = isOfHub ? hubPart(read.path) : {registry: read.registry, path: read.path};
	if (digest !== undefined) return {registry, path, tag: undefined, digest, name: `${registry}/${path}@${digest}`};
	const tag = read.tag ?? 'latest';
	return {registry, path, tag, digest, name: `${registry}/${path}:${tag}`};
}

const hubPart = (path: string): Pick<ImageReference, 'registry' | 'path'> => ({
	registry: hub,
	path: path.includes('/') ? path : `library/${path}`,
});
