// Whole objects as JSON, YAML or names. JSON and YAML are for scripts: their form is stable.

import type {ApiObject} from '../../api/object.js';
import {displayName, type Resource} from '../cluster/resources.js';
import type {Invocation} from '../command.js';

const asJson = (value: unknown): string => JSON.stringify(value, null, 4) + '\n';

/** YAML that YAML 1.1 readers such as kubectl read the same: `yes`, `012` and their like are quoted. */
export async function asYaml(value: unknown): Promise<string> {
	const {stringify} = await import('yaml');
	return stringify(value, {version: '1.1', lineWidth: 0, aliasDuplicateObjects: false});
}

/** A value in the format asked for. */
export const asText = (value: unknown, format: 'json' | 'yaml'): Promise<string> =>
	format === 'json' ? Promise.resolve(asJson(value)) : asYaml(value);

/** Prints the value as `-o json` or `-o yaml` asks; false where neither is asked for, and nothing is printed. */
export async function printedWhole({flags, terminal}: Invocation, value: unknown): Promise<boolean> {
	const format = flags.text('output') as 'json' | 'yaml' | undefined;
	if (format !== undefined) terminal.out(await asText(value, format));
	return format !== undefined;
}

/** One object as itself, several as a List, as kubectl does. */
export const listOf = (objects: readonly ApiObject[]): unknown => ({
	apiVersion: 'v1',
	kind: 'List',
	metadata: {resourceVersion: ''},
	items: objects,
});

export const asName = (resource: Resource, object: ApiObject): string => `${displayName(resource, object.metadata.name)}\n`;
