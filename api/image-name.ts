// Names of images, by the grammar of Docker's references (regexp.go and normalize.go of distribution/reference):
// `[registry[:port]/]path[:tag][@digest]`. Pure.

import {shown} from './shown.js';

export type ImageName = {
	/** The registry's host, with its port if it has one; undefined: Docker's own. */
	readonly registry: string | undefined;
	/** Within the registry. */
	readonly path: string;
	readonly tag: string | undefined;
	/** `sha256:…`. */
	readonly digest: string | undefined;
};

/** Of a digest, in hexadecimal digits. */
const digestLengths: {readonly [algorithm: string]: number} = {sha256: 64, sha384: 96, sha512: 128};

const registryForm =
	/^(?:(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?$/;
const partForm = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const idForm = /^[0-9a-f]{64}$/;

const longestReference = 1024;
/** Of a name without tag and digest. */
const longestName = 255;

/** The parts of a name, or what is wrong with it: words that go on a sentence. */
export function readImageName(text: string): ImageName | string {
	if (text.length > longestReference) return `it has ${text.length} characters`;
	if (idForm.test(text)) return '64 hexadecimal digits are the id of an image, and no name';
	const at = text.indexOf('@');
	const digest = at === -1 ? undefined : text.slice(at + 1);
	const tagged = at === -1 ? text : text.slice(0, at);
	const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
	const tag = colon === -1 ? undefined : tagged.slice(colon + 1);
	const name = colon === -1 ? tagged : tagged.slice(0, colon);
	const {registry, path} = partsOf(name);
	const problem = registryProblem(registry) ?? pathProblem(path) ?? tagProblem(tag) ?? digestProblem(digest);
	if (problem !== undefined) return problem;
	if (name.length > longestName) return `it has ${name.length} characters without its tag, and ${longestName} are allowed`;
	return {registry, path, tag, digest};
}

/** The first part is a registry where it cannot be a part of a path: it has a dot or a port, or is this host. */
function partsOf(name: string): Pick<ImageName, 'registry' | 'path'> {
	const slash = name.indexOf('/');
	const first = slash === -1 ? '' : name.slice(0, slash);
	const isRegistry = /[.:]/.test(first) || first === 'localhost';
	return isRegistry ? {registry: first, path: name.slice(slash + 1)} : {registry: undefined, path: name};
}

const registryProblem = (registry: string | undefined): string | undefined =>
	registry === undefined || registryForm.test(registry) ? undefined : `${shown(registry)} is no address of a registry`;

function pathProblem(path: string): string | undefined {
	if (path === '') return 'it has no name';
	if (/[A-Z]/.test(path)) return 'its name has to be in lower case';
	const wrong = path.split('/').find(part => !partForm.test(part));
	if (wrong === undefined) return undefined;
	return wrong === ''
		? 'there is nothing between two of its slashes, or at its ends'
		: `${shown(wrong)} has to be lower-case letters and digits, with one ".", one or two "_" or any "-" between them`;
}

const tagProblem = (tag: string | undefined): string | undefined =>
	tag === undefined || tagForm.test(tag)
		? undefined
		: 'its tag has to be up to 128 letters, digits, "_", "." and "-", not beginning with "." or "-"';

function digestProblem(digest: string | undefined): string | undefined {
	if (digest === undefined) return undefined;
	const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([0-9a-f]+)$/.exec(digest) ?? [];
	const length = Object.hasOwn(digestLengths, algorithm) ? digestLengths[algorithm] : undefined;
	return hex.length === length ? undefined : 'its digest has to be "sha256:" and 64 hexadecimal digits in lower case';
}
