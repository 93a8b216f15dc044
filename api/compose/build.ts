// `build`: what an image is made from. A node's Engine builds it; here is only read what the file says.

import {isObject, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import type {ImageBuild} from '../image-news.js';
import {below, refuse, remark, type At} from './findings.js';
import {pathBelow} from './names.js';
import type {Project} from './project.js';
import {flagOf, pairsOf, refuseOthers, textOf} from './values.js';

/** How the image of a service is built. */
export type ComposeBuild = {
	readonly service: string;
	/** Where the file says it. */
	readonly path: string;
	/** The absolute path of a folder. */
	readonly context: string;
	readonly build: ImageBuild;
	/** Of what is in the folder, and of how it is built, once that was read. */
	readonly hash?: string;
};

/** Told, and of no use here. */
const unused = ['cache_from', 'cache_to'];

/** What the Engine's own builder has not, or what cannot be said of all nodes. */
const refused: {readonly [field: string]: string} = {
	additional_contexts: 'one folder is sent: put what is needed below it',
	dockerfile_inline: 'write it into a file',
	entitlements: 'steps have no rights on the host',
	extra_hosts: 'steps find the names that the Engine finds',
	isolation: 'is of Windows',
	platforms: 'an image is built for the node that builds it',
	privileged: 'steps have no rights on the host',
	provenance: 'is of BuildKit',
	sbom: 'is of BuildKit',
	secrets: 'are of BuildKit',
	shm_size: "is the Engine's own",
	ssh: 'is of BuildKit',
	tags: 'an image has the name of the service: image says another',
	ulimits: "are the Engine's own",
};

const read = ['context', 'dockerfile', 'args', 'target', 'labels', 'network', 'no_cache', 'pull'];

/** Undefined: the service builds none, or what it says is wrong, which is told. */
export function buildOf(service: At, name: string, tag: string, fields: JsonObject, project: Project): ComposeBuild | undefined {
	const value = fields['build'];
	if (value === undefined || value === null) return undefined;
	const at = below(service, 'build');
	const members: JsonObject = isObject(value) ? value : {context: textOf(at, value) ?? null};
	const field = (key: string): At => below(at, key);
	for (const key of Object.keys(members)) {
		if (Object.hasOwn(refused, key)) refuse(field(key), `cannot be said: ${refused[key] ?? ''}`);
		if (unused.includes(key)) remark(field(key), 'is not used: the Engine has its own cache');
	}
	refuseOthers(at, members, [...read, ...unused, ...Object.keys(refused)]);
	const {folder, environment} = project.surroundings;
	const context = textOf(isObject(value) ? field('context') : at, members['context']) ?? '.';
	if (/^[a-z][a-z0-9+]*:\/\/|^git@|^github\.com\//i.test(context))
		return refuse(isObject(value) ? field('context') : at, `must be a folder here, got ${shown(context)}: get it first, as by git clone`);
	const dockerfile = textOf(field('dockerfile'), members['dockerfile']) ?? 'Dockerfile';
	if (!isWithin(dockerfile)) refuse(field('dockerfile'), `must be a file within the context, got ${shown(dockerfile)}`);
	const network = textOf(field('network'), members['network']) ?? 'default';
	if (!['default', 'none'].includes(network)) refuse(field('network'), `must be none, or left out, got ${shown(network)}`);
	const target = textOf(field('target'), members['target']);
	const texts = (key: string): Readonly<Record<string, string>> =>
		Object.fromEntries(
			pairsOf(field(key), members[key]).flatMap(({key: word, value: text}) => {
				const given = text ?? (Object.hasOwn(environment, word) ? environment[word] : undefined);
				return given === undefined ? [] : [[word, given]];
			}),
		);
	return {
		service: name,
		path: at.path,
		context: pathBelow(folder, context, environment['HOME']),
		build: {
			tag,
			dockerfile: dockerfile.replace(/^(?:\.\/)+/, ''),
			...(target === undefined || target === '' ? {} : {target}),
			args: texts('args'),
			labels: texts('labels'),
			isOffline: network === 'none',
			noCache: flagOf(field('no_cache'), members['no_cache']) === true,
			pulls: flagOf(field('pull'), members['pull']) === true,
		},
	};
}

const isWithin = (file: string): boolean => file !== '' && !file.startsWith('/') && !file.split('/').includes('..');
