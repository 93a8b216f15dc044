// Claims, ConfigMaps and Secrets: what the sections of a file become.

import {base64OfBytes} from '../base64.js';
import type {Renamed} from '../dialects/rewrite.js';
import {localClass} from '../local-storage.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {shown} from '../shown.js';
import type {ComposeBuild} from './build.js';
import {below, refuse, remark, type At} from './findings.js';
import {objectName} from './mounts.js';
import {pathBelow} from './names.js';
import {isExternal, type Project} from './project.js';
import {flagOf, membersOf, pairsOf, refuseOthers, textOf} from './values.js';

/** One object, and where in the file its fields come from: `path` of the object, `from` of the file. The path of the whole is empty. */
export type Composed = {
	readonly object: JsonObject;
	readonly spelled: readonly Renamed[];
	/** Of a workload whose image the file says how to build. */
	readonly build?: ComposeBuild | undefined;
};

/** What a file has, or why it could not be read. */
export type FileContent = {readonly bytes: Uint8Array} | {readonly problem: string};

export type Materials = {
	/** By absolute path. */
	readonly files: ReadonlyMap<string, FileContent>;
	/** Folders and files that services mount and that are not there. */
	readonly missing: ReadonlySet<string>;
	/** A short word for a text, of which the text cannot be found: it may be a password. */
	readonly digestOf: (text: string) => string;
};

/** Docker's volumes have no size, claims have one; nothing enforces it. */
const claimSize = '10Gi';

export function claimOf(project: Project, name: string, labels: JsonObject): Composed | undefined {
	const at: At = below({found: project.found, path: 'volumes'}, name);
	const definition = membersOf(at, project.volumes[name]);
	refuseOthers(at, definition, ['driver', 'driver_opts', 'external', 'name', 'labels']);
	const driver = textOf(below(at, 'driver'), definition['driver']) ?? 'local';
	if (driver !== 'local') refuse(below(at, 'driver'), `must be local: volumes are folders of nodes, got ${shown(driver)}`);
	if (Object.keys(membersOf(below(at, 'driver_opts'), definition['driver_opts'])).length > 0)
		refuse(below(at, 'driver_opts'), 'cannot be said of a volume: write a PersistentVolume, and name its claim as an external volume');
	if (isExternal(definition)) return undefined;
	const object = named(project, 'volumes', name, at);
	if (object === undefined) return undefined;
	const spec = {accessModes: ['ReadWriteOnce'], storageClassName: localClass, resources: {requests: {storage: claimSize}}};
	const metadata = {name: object, ...marksOf(below(at, 'labels'), definition['labels'], labels)};
	return {object: {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec}, spelled: [{path: '', from: at.path}]};
}

/** The ConfigMap or Secret of an entry that services use; undefined for one that is made elsewhere, or cannot be made. */
export function storedOf(
	project: Project,
	section: 'configs' | 'secrets',
	name: string,
	labels: JsonObject,
	{files}: Materials,
): Composed | undefined {
	const at: At = below({found: project.found, path: section}, name);
	const definition = membersOf(at, project[section][name]);
	refuseOthers(at, definition, ['file', 'content', 'environment', 'external', 'name', 'labels', 'template_driver']);
	if (definition['template_driver'] !== undefined) refuse(below(at, 'template_driver'), 'texts are taken as they are');
	flagOf(below(at, 'external'), isObject(definition['external']) ? true : definition['external']);
	if (isExternal(definition)) return undefined;
	const bytes = bytesOf(at, definition, project, files);
	const object = named(project, section, name, at);
	if (!/^[-._a-zA-Z0-9]{1,253}$/.test(name)) return refuse(at, `must be called by letters, digits, "-", "_" and ".", got ${shown(name)}`);
	if (bytes === undefined || object === undefined) return undefined;
	const kind = section === 'configs' ? 'ConfigMap' : 'Secret';
	const metadata = {name: object, ...marksOf(below(at, 'labels'), definition['labels'], labels)};
	const data = section === 'secrets' ? {type: 'Opaque', data: {[name]: base64OfBytes(bytes)}} : configOf(name, bytes);
	return {object: {apiVersion: 'v1', kind, metadata, ...data}, spelled: [{path: '', from: at.path}]};
}

/** Text as itself, all other bytes in base64. */
function configOf(key: string, bytes: Uint8Array): JsonObject {
	const text = textFrom(bytes);
	return text === undefined ? {binaryData: {[key]: base64OfBytes(bytes)}} : {data: {[key]: text}};
}

function textFrom(bytes: Uint8Array): string | undefined {
	try {
		return new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes);
	} catch {
		return undefined;
	}
}

function bytesOf(at: At, definition: JsonObject, {surroundings}: Project, files: Materials['files']): Uint8Array | undefined {
	const given = (['file', 'content', 'environment'] as const).filter(field => definition[field] !== undefined);
	const [field] = given;
	if (field === undefined || given.length > 1) return refuse(at, 'must have one of file, content, environment and external');
	const here = below(at, field);
	const text = textOf(here, definition[field]);
	if (text === undefined) return undefined;
	if (field === 'content') return new TextEncoder().encode(text);
	const {environment, folder} = surroundings;
	if (field === 'environment') {
		const value = Object.hasOwn(environment, text) ? environment[text] : undefined;
		return value === undefined ? refuse(here, `the variable ${shown(text)} is not set`) : new TextEncoder().encode(value);
	}
	const content = files.get(pathBelow(folder, text, environment['HOME']));
	if (content !== undefined && 'bytes' in content) return content.bytes;
	return refuse(here, `${shown(text)} cannot be read: ${content?.problem ?? 'there is no such file'}`);
}

/** The name of the object that an entry becomes; a change of it is told. */
function named(project: Project, section: 'volumes' | 'configs' | 'secrets', key: string, at: At): string | undefined {
	const name = objectName(project[section], key);
	if (name === undefined) return refuse(at, 'no name of an object can be made of it');
	const definition = project[section][key];
	const given = isObject(definition) && typeof definition['name'] === 'string' ? definition['name'] : key;
	if (name !== given) remark(at, `is called ${name}: names of objects are DNS labels`);
	return name;
}

const qualified = /^(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Docker's labels beside ours: what is a label here as well is one, any other text is an annotation. */
export function marksOf(at: At, value: Json | undefined, own: JsonObject): JsonObject {
	const labels: [string, Json][] = [];
	const annotations: [string, Json][] = [];
	for (const {key, value: text = '', at: here} of pairsOf(at, value)) {
		if (!qualified.test(key))
			refuse(here, `must be called by letters, digits, "-", "_" and ".", behind a DNS prefix and "/" if wanted, got ${shown(key)}`);
		else if (Object.hasOwn(own, key)) refuse(here, `${shown(key)} is set from the file's own names`);
		else (labelValue.test(text) ? labels : annotations).push([key, text]);
	}
	return {
		labels: {...Object.fromEntries(labels), ...own},
		...(annotations.length === 0 ? {} : {annotations: Object.fromEntries(annotations)}),
	};
}
