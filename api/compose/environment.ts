// `environment` and `env_file`: the variables of a container.

import type {Renamed} from '../dialects/rewrite.js';
import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {readEnvFile} from './env-file.js';
import {below, refuse, type At} from './findings.js';
import {pathBelow} from './names.js';
import {envFilesOf, type Project} from './project.js';
import type {FileContent} from './stored.js';
import {pairsOf} from './values.js';

/** `$(NAME)` would stand for a variable in a pod's texts; in a compose file it is what it is. */
export const literal = (text: string): string => text.replace(/\$(?=[$(])/g, '$$$$');

export type Variables = {readonly env: readonly JsonObject[]; readonly spelled: readonly Renamed[]};

/** Those of files first, in order; a later one of a name takes its place. One without a value has that of the shell, or is not there. */
export function variablesOf(service: At, fields: JsonObject, {surroundings}: Project, files: ReadonlyMap<string, FileContent>): Variables {
	const {environment, folder} = surroundings;
	const ofShell = (name: string): string | undefined => (Object.hasOwn(environment, name) ? environment[name] : undefined);
	const found = new Map<string, {readonly value: string | undefined; readonly at: At}>();
	for (const {file, at, isOptional} of envFilesOf(service, fields['env_file'])) {
		const content = files.get(pathBelow(folder, file, environment['HOME']));
		if (content === undefined || 'problem' in content) {
			const problem = content?.problem ?? 'there is no such file';
			if (!isOptional) refuse(at, `${shown(file)} cannot be read: ${problem}`);
			continue;
		}
		const {entries, wrongLines, isTooLarge} = readEnvFile(new TextDecoder().decode(content.bytes), ofShell);
		for (const line of wrongLines) refuse(at, `line ${line} of ${shown(file)} must be KEY=VALUE`);
		if (isTooLarge) refuse(at, `the variables of ${shown(file)} stand for too much`);
		for (const [name, value] of entries) found.set(name, {value, at});
	}
	for (const {key, value, at} of pairsOf(below(service, 'environment'), fields['environment'])) {
		if (key === '' || /\s/.test(key)) refuse(at, `the name of a variable has no spaces, got ${shown(key)}`);
		else found.set(key, {value, at});
	}
	const set = [...found].flatMap(([name, {value = ofShell(name), at}]) => (value === undefined ? [] : [{name, value: literal(value), at}]));
	return {
		env: set.map(({name, value}) => ({name, value})),
		spelled: set.map(({at}, i) => ({path: `containers[0].env[${i}]`, from: at.path})),
	};
}
