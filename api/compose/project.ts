// A compose file as it is meant: variables set in, services with what they extend, those of inactive profiles left out. What files it needs
// besides is in the answer, so that whoever asked can read them.

import {limits} from '../limits.js';
import {isObject, type Json, type JsonObject} from '../object.js';
import {joinPath} from '../path.js';
import {shown} from '../shown.js';
import {withExtended} from './extends.js';
import {below, noFindings, refuse, remark, type At, type Findings} from './findings.js';
import {interpolated, WrongVariable, type Variables} from './interpolate.js';
import {pathBelow, projectOf} from './names.js';
import {flagOf, isExtension, membersOf, refuseOthers, textOf, textsOf} from './values.js';

/** What a file stands in. */
export type Surroundings = {
	/** The absolute path of the file's folder: paths are below it, and its name is the project's. */
	readonly folder: string;
	/** Variables, those of the shell before those of `.env`. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Profiles that are wanted; COMPOSE_PROFILES counts as well. */
	readonly profiles: readonly string[];
};

/** A file that is needed, and which field says so. */
export type NeededFile = {readonly file: string; readonly at: string; readonly isOptional: boolean};

export type Project = {
	/** A DNS label. */
	readonly name: string;
	/** Those that are wanted, by name, each with all its fields. */
	readonly services: ReadonlyMap<string, JsonObject>;
	/** All that the file has. */
	readonly serviceNames: readonly string[];
	readonly volumes: JsonObject;
	readonly networks: JsonObject;
	readonly configs: JsonObject;
	readonly secrets: JsonObject;
	readonly surroundings: Surroundings;
	readonly found: Findings;
};

/** Whether a document is a compose file: it has services, and is no object of Kubernetes. */
export const isCompose = (document: unknown): document is JsonObject =>
	isObject(document) && Object.hasOwn(document, 'services') && document['apiVersion'] === undefined && document['kind'] === undefined;

/** A compose file of version 1: nothing but services, each with an image or the way to one. */
export const isFirstCompose = (document: JsonObject): boolean => {
	const members = Object.values(document);
	return (
		members.length > 0 && members.every(member => isObject(member) && (Object.hasOwn(member, 'image') || Object.hasOwn(member, 'build')))
	);
};

const sections = ['services', 'volumes', 'networks', 'configs', 'secrets'] as const;

/** Reads a document of plain JSON, nulls in it. Never throws: what is wrong is in `found`. */
export function readProject(document: JsonObject, surroundings: Surroundings): Project {
	const found = noFindings();
	const root: At = {found, path: ''};
	checkTop(document, root);
	const variables = variablesOf(surroundings, root);
	const set = (key: string): Json | undefined => {
		const value = document[key];
		return value === undefined ? undefined : withVariables(value, key, variables, found);
	};
	const [services = {}, volumes = {}, networks = {}, configs = {}, secrets = {}] = sections.map(key =>
		membersOf(below(root, key), set(key)),
	);
	const {environment, folder} = surroundings;
	const given = textOf(below(root, 'name'), set('name')) ?? environment['COMPOSE_PROJECT_NAME'] ?? '';
	const name = projectOf(given === '' ? (folder.split('/').findLast(step => step !== '') ?? '') : given);
	const wanted = wantedServices(services, surroundings, below(root, 'services'));
	const parts = {services: wanted, serviceNames: Object.keys(services), volumes, networks, configs, secrets};
	return {name, ...parts, surroundings, found};
}

function checkTop(document: JsonObject, root: At): void {
	if (document['include'] !== undefined) refuse(below(root, 'include'), 'other files are not read: write their services into this one');
	refuseOthers(root, document, ['version', 'name', 'include', ...sections]);
	const at = below(root, 'version');
	const version = textOf(at, document['version']);
	if (version !== undefined && !/^[23](\.\d{1,2})?$/.test(version))
		refuse(at, `must be 2, 3 or one of their own such as "3.8", got ${shown(version)}`);
}

function variablesOf({environment}: Surroundings, root: At): Variables {
	const told = new Set<string>();
	return {
		get: name => (Object.hasOwn(environment, name) ? environment[name] : undefined),
		missing(name) {
			if (told.size < limits.problemsShown && !told.has(name)) remark(root, `the variable ${name} is not set: nothing stands in its place`);
			told.add(name);
		},
		left: limits.composeCharacters,
	};
}

/** The value with its variables set in. */
function withVariables(value: Json, path: string, variables: Variables, found: Findings): Json {
	// What aliases repeat counts as often as it is there.
	if (--variables.left < 0) return refuse({found, path}, `is too large: the file may have ${limits.composeCharacters} characters`) ?? null;
	if (typeof value === 'string') {
		try {
			return interpolated(value, variables);
		} catch (error) {
			if (!(error instanceof WrongVariable)) throw error;
			refuse({found, path}, error.message);
			return null;
		}
	}
	if (Array.isArray(value)) return (value as readonly Json[]).map((item, i) => withVariables(item, joinPath(path, i), variables, found));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, member = null]) => [key, withVariables(member, joinPath(path, key), variables, found)]),
	);
}

function wantedServices(services: JsonObject, {profiles, environment}: Surroundings, at: At): ReadonlyMap<string, JsonObject> {
	const names = Object.keys(services).filter(name => !isExtension(name));
	if (names.length === 0) refuse(at, 'must have at least one service');
	if (names.length > limits.composeServices) {
		refuse(at, `has ${names.length} services; at most ${limits.composeServices} are read at once`);
		return new Map();
	}
	const active = new Set([...profiles, ...(environment['COMPOSE_PROFILES'] ?? '').split(',').map(word => word.trim())]);
	const whole = [...withExtended(services, at)].filter(([name]) => names.includes(name));
	const isWanted = ([name, fields]: readonly [string, JsonObject]): boolean => {
		const own = textsOf(below(at, name, 'profiles'), fields['profiles']).map(({text}) => text);
		return own.length === 0 || active.has('*') || own.some(profile => active.has(profile));
	};
	const left = whole.filter(service => !isWanted(service)).map(([name]) => name);
	if (left.length > 0) remark(at, `left out, for their profiles are not asked for: ${left.join(', ')}`);
	return new Map(whole.filter(([name]) => !left.includes(name)));
}

/** The files that the wanted services need: variables, and what configs and secrets have. */
export function filesOf(project: Project): readonly NeededFile[] {
	const {services, surroundings, found} = project;
	const {folder, environment} = surroundings;
	const silent: At = {found: noFindings(), path: ''};
	const absolute = (file: string): string => pathBelow(folder, file, environment['HOME']);
	const ofServices = [...services].flatMap(([name, fields]) =>
		envFilesOf({found: silent.found, path: joinPath('services', name)}, fields['env_file']).map(({file, at, isOptional}) => ({
			file: absolute(file),
			at: at.path,
			isOptional,
		})),
	);
	const ofSections = (['configs', 'secrets'] as const).flatMap(section =>
		usedIn(project, section).flatMap((name): readonly NeededFile[] => {
			const definition = Object.hasOwn(project[section], name) ? project[section][name] : undefined;
			const at = below({found, path: section}, name, 'file');
			const file = isObject(definition) && !isExternal(definition) ? definition['file'] : undefined;
			return typeof file === 'string' ? [{file: absolute(file), at: at.path, isOptional: false}] : [];
		}),
	);
	return [...ofServices, ...ofSections];
}

/** Which entries of a section services use. */
function usedIn({services}: Project, section: 'configs' | 'secrets'): readonly string[] {
	const used = [...services.values()].flatMap(fields => {
		const list = fields[section];
		return Array.isArray(list) ? (list as readonly Json[]).map(item => (isObject(item) ? item['source'] : item)) : [];
	});
	return [...new Set(used.filter(name => typeof name === 'string'))];
}

/** Whether what a section says is made elsewhere. */
export const isExternal = (definition: JsonObject): boolean => {
	const {external} = definition;
	return isObject(external) || flagOf({found: noFindings(), path: ''}, external) === true;
};

export type EnvFileEntry = {readonly file: string; readonly at: At; readonly isOptional: boolean};

/** One file, several, or each with a word whether it has to be there. */
export function envFilesOf(service: At, value: Json | undefined): readonly EnvFileEntry[] {
	const at = below(service, 'env_file');
	const list = Array.isArray(value) ? (value as readonly Json[]) : value === undefined || value === null ? [] : [value];
	return list.flatMap((item, i): readonly EnvFileEntry[] => {
		const here = Array.isArray(value) ? below(at, i) : at;
		if (isObject(item)) refuseOthers(here, item, ['path', 'required', 'format']);
		if (isObject(item) && item['format'] !== undefined)
			refuse(below(here, 'format'), 'cannot be chosen: put values that are to stay as they are in single quotes');
		const file = textOf(here, isObject(item) ? item['path'] : item);
		const isRequired = isObject(item) ? flagOf(below(here, 'required'), item['required']) : true;
		if (file === undefined) return refuse(here, 'must name a file') ?? [];
		return [{file, at: here, isOptional: isRequired === false}];
	});
}
