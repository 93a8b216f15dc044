// A compose file in a test: YAML in, objects, problems and notes out.

import {LineCounter} from 'yaml';
import {parseBoundedYaml} from '../../api/bounded-yaml.js';
import {convert} from '../../api/compose/convert.js';
import {readProject} from '../../api/compose/project.js';
import {isObject, type JsonObject} from '../../api/object.js';

type Given = {
	readonly environment?: Readonly<Record<string, string>>;
	readonly profiles?: readonly string[];
	/** By absolute path; the file's folder is /srv/shop. */
	readonly files?: Readonly<Record<string, string>>;
	readonly missing?: readonly string[];
};

export function composeValue(yaml: string): JsonObject {
	const parsed = parseBoundedYaml(yaml, new LineCounter());
	return (parsed.ok ? parsed.documents[0]?.toJS() : {}) as JsonObject;
}

export function converted(yaml: string, {environment = {}, profiles = [], files = {}, missing = []}: Given = {}) {
	const project = readProject(composeValue(yaml), {folder: '/srv/shop', environment, profiles});
	const bytes = Object.entries(files).map(([file, text]) => [file, {bytes: new TextEncoder().encode(text)}] as const);
	const {composed, problems, notes} = convert(project, {files: new Map(bytes), missing: new Set(missing), digestOf: text => text});
	const objects = composed.map(({object}) => object);
	return {
		objects,
		builds: composed.flatMap(({build}) => build ?? []),
		problems: problems.map(({path, message}) => `${path}: ${message}`),
		notes: notes.map(({path, message}) => `${path}: ${message}`),
		named: (kind: string, name = 'web') => objects.find(each => each['kind'] === kind && part(each, 'metadata')['name'] === name),
	};
}

/** What lies at the end of the way; an empty object where nothing does. */
export const part = (object: JsonObject | undefined, ...way: readonly string[]): JsonObject => {
	let here: unknown = object;
	for (const step of way) here = isObject(here) ? here[step] : Array.isArray(here) ? (here as readonly unknown[])[Number(step)] : undefined;
	return isObject(here) ? here : {};
};

/** A file of one service, `web`, with these fields; and more sections. */
export const service = (fields: string, more = ''): string => `services:\n  web:\n    image: web\n${indented(fields)}${more}`;

const indented = (text: string): string =>
	text
		.split('\n')
		.map(line => `    ${line}\n`)
		.join('');

/** The pod of `web`, whatever runs it. */
export function podOfWeb(
	yaml: string,
	given: Given = {},
): {readonly pod: JsonObject; readonly container: JsonObject; readonly problems: readonly string[]} {
	const {objects, problems} = converted(yaml, given);
	const workload = objects.find(each => part(each, 'spec', 'template')['spec'] !== undefined && part(each, 'metadata')['name'] === 'web');
	const pod = part(workload, 'spec', 'template', 'spec');
	return {pod, container: part(pod, 'containers', '0'), problems};
}
