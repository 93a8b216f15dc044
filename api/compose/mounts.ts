// What a container sees of folders and files: `volumes` in all their forms, `tmpfs`, `shm_size`, `configs` and `secrets`.

import type {Renamed} from '../dialects/rewrite.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {memoryText} from '../quantity.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {below, refuse, remark, type At} from './findings.js';
import {labelOf, pathBelow} from './names.js';
import {isExternal, type Project} from './project.js';
import {bytesOf, flagOf, listOf, membersOf, modeOf, refuseOthers, textOf, textsOf} from './values.js';

/** One place in a container. */
type Mount = {
	/** Of the pod, without its name; mounts of the same key share it. */
	readonly volume: JsonObject;
	readonly key: string;
	/** What it is called in the pod. */
	readonly name: string;
	readonly mount: JsonObject & {readonly mountPath: string};
	readonly at: At;
	/** Of a named volume: its name in the file. */
	readonly claim?: string;
};

export type Mounts = {
	readonly volumes: readonly JsonObject[];
	readonly volumeMounts: readonly JsonObject[];
	/** Below the pod's spec. */
	readonly spelled: readonly Renamed[];
	/** Named volumes of the file that are used. */
	readonly claims: readonly string[];
};

/** `missing`: paths of the host that are not there, and so are made as folders. */
export function mountsOf(service: At, fields: JsonObject, project: Project, missing: ReadonlySet<string>): Mounts {
	const volumes = below(service, 'volumes');
	const mounts = [
		...listOf(volumes, fields['volumes']).flatMap((item, i) => volumeOf(below(volumes, i), item, {project, missing, index: i})),
		...textsOf(below(service, 'tmpfs'), fields['tmpfs']).flatMap(({text, at}, i) => tmpfsOf(at, text, `tmpfs-${i}`)),
		...shmOf(below(service, 'shm_size'), fields['shm_size']),
		...(['configs', 'secrets'] as const).flatMap(section => {
			const at = below(service, section);
			return listOf(at, fields[section]).flatMap((item, i) => storedOf(below(at, i), item, {project, section, index: i}));
		}),
	];
	const names = new Map(mounts.map(({key, name, volume}) => [key, {name, ...volume}]));
	const places = new Map<string, string>();
	for (const {mount, at} of mounts) {
		const path = mount.mountPath;
		const before = places.get(path);
		if (before !== undefined) refuse(at, `is at ${shown(path)}, as ${before} is`);
		places.set(path, at.path);
	}
	return {
		volumes: [...names.values()],
		volumeMounts: mounts.map(({mount, name}) => ({name, ...mount})),
		spelled: mounts.flatMap(({at, key}, i) => [
			{path: `containers[0].volumeMounts[${i}]`, from: at.path},
			{path: `volumes[${[...names.keys()].indexOf(key)}]`, from: at.path},
		]),
		claims: [...new Set(mounts.flatMap(({claim}) => (claim === undefined ? [] : [claim])))],
	};
}

/** The folders and files of the host that services mount. */
export function bindsOf({services, surroundings}: Project): readonly string[] {
	const sources = [...services.values()].flatMap(fields => {
		const list = fields['volumes'];
		if (!Array.isArray(list)) return [];
		return (list as readonly Json[]).flatMap(item => {
			if (isObject(item)) return item['type'] === 'bind' && typeof item['source'] === 'string' ? [item['source']] : [];
			const [source = '', target] = typeof item === 'string' ? item.split(':') : [];
			return target !== undefined && isPath(source) ? [source] : [];
		});
	});
	return [...new Set(sources.map(source => pathBelow(surroundings.folder, source, surroundings.environment['HOME'])))];
}

/** A path, and not the name of a volume. */
const isPath = (source: string): boolean => /^[./~]/.test(source);

type VolumeContext = {readonly project: Project; readonly missing: ReadonlySet<string>; readonly index: number};

function volumeOf(at: At, item: Json, context: VolumeContext): readonly Mount[] {
	return isObject(item) ? longVolume(at, item, context) : shortVolume(at, item, context);
}

/** `/path`, `name:/path`, `./folder:/path:ro`. */
function shortVolume(at: At, item: Json, context: VolumeContext): readonly Mount[] {
	const text = textOf(at, item);
	if (text === undefined) return [];
	const [first = '', target, options = '', ...rest] = text.split(':');
	if (rest.length > 0) return refuse(at, `must be PATH, SOURCE:PATH or SOURCE:PATH:ro, got ${shown(text)}`) ?? [];
	if (target === undefined) {
		remark(at, 'begins empty: what the image has there is not copied, as Docker would');
		return mountAt(at, first, {}, anonymous(context));
	}
	const mount = optionsOf(at, options);
	return mountAt(at, target, mount, isPath(first) ? bind(first, true, context) : named(at, first, context));
}

/** Words behind a short volume; those that are about speed or labels of SELinux change nothing here. */
function optionsOf(at: At, text: string): JsonObject {
	const words = text.split(',').filter(word => word !== '');
	for (const word of words) {
		if (['ro', 'rw', 'nocopy', 'cached', 'delegated', 'consistent', 'rprivate', 'z', 'Z'].includes(word)) continue;
		refuse(at, `${shown(word)} cannot be said of a volume: ro and rw can`);
	}
	return words.includes('ro') ? {readOnly: true} : {};
}

function longVolume(at: At, item: JsonObject, context: VolumeContext): readonly Mount[] {
	refuseOthers(at, item, ['type', 'source', 'target', 'read_only', 'consistency', 'bind', 'volume', 'tmpfs']);
	const type = textOf(below(at, 'type'), item['type']) ?? 'volume';
	const source = textOf(below(at, 'source'), item['source']);
	const target = textOf(below(at, 'target'), item['target']);
	const readOnly = flagOf(below(at, 'read_only'), item['read_only']) === true ? {readOnly: true} : {};
	if (target === undefined) return refuse(at, 'must have a target') ?? [];
	if (type === 'volume') {
		const options = membersOf(below(at, 'volume'), item['volume']);
		refuseOthers(below(at, 'volume'), options, ['nocopy', 'subpath']);
		flagOf(below(at, 'volume', 'nocopy'), options['nocopy']);
		const subPath = textOf(below(at, 'volume', 'subpath'), options['subpath']);
		const mount = {...readOnly, ...(subPath === undefined ? {} : {subPath})};
		return mountAt(at, target, mount, source === undefined ? anonymous(context) : named(below(at, 'source'), source, context));
	}
	if (type === 'bind') {
		if (source === undefined) return refuse(at, 'must have a source') ?? [];
		const options = membersOf(below(at, 'bind'), item['bind']);
		refuseOthers(below(at, 'bind'), options, ['propagation', 'create_host_path', 'selinux']);
		const propagation = textOf(below(at, 'bind', 'propagation'), options['propagation']);
		if (propagation !== undefined && propagation !== 'rprivate')
			refuse(below(at, 'bind', 'propagation'), `cannot be said of a volume, got ${shown(propagation)}`);
		const mayMake = flagOf(below(at, 'bind', 'create_host_path'), options['create_host_path']) === true;
		return mountAt(at, target, readOnly, bind(source, mayMake, context));
	}
	if (type !== 'tmpfs') return refuse(below(at, 'type'), `must be volume, bind or tmpfs, got ${shown(type)}`) ?? [];
	const options = membersOf(below(at, 'tmpfs'), item['tmpfs']);
	refuseOthers(below(at, 'tmpfs'), options, ['size', 'mode']);
	if (options['mode'] !== undefined) refuse(below(at, 'tmpfs', 'mode'), 'the permissions of a folder in memory cannot be said');
	const bytes = bytesOf(below(at, 'tmpfs', 'size'), options['size']);
	return mountAt(at, target, readOnly, inMemory(`tmpfs-of-volumes-${context.index}`, bytes));
}

type Source = Pick<Mount, 'volume' | 'key' | 'name' | 'claim'> | undefined;

function mountAt(at: At, target: string, mount: JsonObject, source: Source): readonly Mount[] {
	if (!target.startsWith('/')) return refuse(at, `must be seen at an absolute path, got ${shown(target)}`) ?? [];
	return source === undefined ? [] : [{...source, mount: {mountPath: pathBelow('/', target, undefined), ...mount}, at}];
}

const anonymous = ({index}: VolumeContext): Source => ({volume: {emptyDir: {}}, key: `anonymous/${index}`, name: `anonymous-${index}`});

function inMemory(name: string, bytes: number | undefined): Source {
	const sizeLimit = bytes === undefined || bytes === 0 ? {} : {sizeLimit: memoryText(bytes)};
	return {volume: {emptyDir: {medium: 'Memory', ...sizeLimit}}, key: name, name};
}

/** What is not there is made as a folder, as Docker does. */
function bind(source: string, mayMake: boolean, {project, missing, index}: VolumeContext): Source {
	const {folder, environment} = project.surroundings;
	const path = pathBelow(folder, source, environment['HOME']);
	const type = mayMake && missing.has(path) ? {type: 'DirectoryOrCreate'} : {};
	return {volume: {hostPath: {path, ...type}}, key: `bind/${path}/${mayMake}`, name: `bind-${index}`};
}

function named(at: At, source: string, {project}: VolumeContext): Source {
	if (!Object.hasOwn(project.volumes, source))
		return refuse(at, `there is no volume ${shown(source)} in volumes${didYouMean(source, Object.keys(project.volumes))}`);
	const claimName = objectName(project.volumes, source);
	if (claimName === undefined) return refuse(at, `no name can be made of ${shown(source)}`);
	return {volume: {persistentVolumeClaim: {claimName}}, key: `claim/${claimName}`, name: claimName, claim: source};
}

/** What an entry of a section is called as an object: by its `name`, or its key, as a DNS label. */
export function objectName(section: JsonObject, key: string): string | undefined {
	const definition = section[key];
	if (!isObject(definition)) return labelOf(key);
	const {name, external} = definition;
	const given = typeof name === 'string' ? name : isObject(external) ? external['name'] : undefined;
	return labelOf(typeof given === 'string' ? given : key);
}

/** `/run`, `/run:size=64m`. */
function tmpfsOf(at: At, text: string, name: string): readonly Mount[] {
	const [target = '', options = ''] = text.split(':');
	let bytes: number | undefined;
	for (const option of options.split(',').filter(word => word !== '')) {
		const [key, value] = option.split('=');
		if (key === 'size') bytes = bytesOf(at, value);
		else if (!['rw', 'nosuid', 'nodev', 'noexec', 'noatime'].includes(option))
			refuse(at, `${shown(option)} cannot be said of a folder in memory: size can`);
		else if (option !== 'rw') remark(at, `${option} is not used of a folder in memory`);
	}
	return mountAt(at, target, {}, inMemory(name, bytes));
}

function shmOf(at: At, value: Json | undefined): readonly Mount[] {
	const bytes = bytesOf(at, value);
	return bytes === undefined ? [] : mountAt(at, '/dev/shm', {}, inMemory('shm', bytes));
}

type StoredContext = {readonly project: Project; readonly section: 'configs' | 'secrets'; readonly index: number};

/** Where they are seen when the file does not say. */
const folders = {configs: '', secrets: '/run/secrets'} as const;

function storedOf(at: At, item: Json, {project, section, index}: StoredContext): readonly Mount[] {
	const members = isObject(item) ? item : {source: item};
	refuseOthers(at, members, ['source', 'target', 'uid', 'gid', 'mode']);
	const source = textOf(at, members['source']);
	const entries = project[section];
	if (source === undefined) return refuse(at, 'must name a source') ?? [];
	if (!Object.hasOwn(entries, source))
		return refuse(at, `there is no ${shown(source)} in ${section}${didYouMean(source, Object.keys(entries))}`) ?? [];
	for (const owner of ['uid', 'gid'] as const)
		if (members[owner] !== undefined && textOf(below(at, owner), members[owner]) !== '0')
			refuse(below(at, owner), 'the owner of one file cannot be said; its mode can');
	const target = textOf(below(at, 'target'), members['target']) ?? source;
	const mode = modeOf(below(at, 'mode'), members['mode']);
	const name = objectName(entries, source);
	const key = entryOf(entries, source);
	if (name === undefined) return refuse(at, `no name can be made of ${shown(source)}`) ?? [];
	const items = [{key, path: key, ...(mode === undefined ? {} : {mode})}];
	const volume = section === 'configs' ? {configMap: {name, items}} : {secret: {secretName: name, items}};
	const mount = {subPath: key, readOnly: true};
	const place = target.startsWith('/') ? target : `${folders[section]}/${target}`;
	return mountAt(at, place, mount, {volume, key: `${section}/${index}`, name: `${section.slice(0, -1)}-${index}`});
}

/** The key in a ConfigMap or Secret under which an entry of a section is kept; one made elsewhere is expected under its name there. */
export function entryOf(section: JsonObject, key: string): string {
	const definition = section[key];
	if (!isObject(definition) || !isExternal(definition)) return key;
	return objectName(section, key) ?? key;
}
