// `set env`: variables of containers, by value or from a ConfigMap or Secret; and as lines. Pure.

import {AppError} from '../../api/errors.js';
import {isObject, type Json, type JsonObject} from '../../api/object.js';
import type {Assignments} from '../objects/assignments.js';
import type {Container, ContainerChange} from './containers.js';

type Variable = JsonObject & {readonly name: string};

/** What becomes of variables: a value, another source, or null for one that goes. */
export type Variables = ReadonlyMap<string, Variable | null>;

/** `A=b`, `B-`. */
export const variablesOf = (wanted: Assignments): Variables =>
	new Map(Object.entries(wanted).map(([name, value]) => [name, value === null ? null : {name, value}]));

/** Of an object with keys. */
export type Source = {
	readonly kind: 'configMap' | 'secret';
	readonly name: string;
	readonly keys: readonly string[];
	readonly prefix: string;
};

/** A variable for each key: `page.html` becomes `PAGE_HTML`, with the prefix before it. */
export const variablesFrom = ({kind, name, keys, prefix}: Source): Variables =>
	new Map(
		keys.map(key => {
			const variable = prefix + key.replaceAll(/[^a-zA-Z0-9_]/g, '_').toUpperCase();
			return [variable, {name: variable, valueFrom: {[`${kind}KeyRef`]: {name, key}}}];
		}),
	);

/** Variables that are there are changed in their place, unless they may not be: that throws ERR_CONFLICT; new ones come last. */
export const envChange = (variables: Variables, names: readonly string[], mayOverwrite: boolean): ContainerChange => ({
	names,
	changed(container) {
		const before = envOf(container);
		const known = new Set(before.map(({name}) => name));
		const after = [
			...before.flatMap(variable => changedVariable(variable, variables.get(variable.name), mayOverwrite)),
			...[...variables].flatMap(([name, variable]) => (known.has(name) || variable === null ? [] : [variable])),
		];
		return JSON.stringify(after) === JSON.stringify(before) ? container : {...container, env: after};
	},
});

function changedVariable(variable: Variable, wanted: Variable | null | undefined, mayOverwrite: boolean): readonly Variable[] {
	if (wanted === undefined) return [variable];
	if (wanted === null) return [];
	if (mayOverwrite) return [wanted];
	// Its value may be a secret.
	const error = new AppError('ERR_CONFLICT', {});
	error.message = `${variable.name} is there already, and --overwrite is false`;
	throw error;
}

const envOf = ({env}: Container): readonly Variable[] =>
	((env ?? []) as readonly Json[]).filter((item): item is Variable => isObject(item) && typeof item['name'] === 'string');

/** The variables of a container as lines that a shell could read; those that come from elsewhere as remarks. */
export const envLines = (subject: string, container: Container): string =>
	[`# ${subject}, container ${container.name}`, ...envOf(container).map(lineOf)].map(line => `${line}\n`).join('');

function lineOf({name, value, valueFrom}: Variable): string {
	if (!isObject(valueFrom)) return `${name}=${typeof value === 'string' ? value : ''}`;
	const [[kind, source] = ['', null]] = Object.entries(valueFrom);
	const {
		name: object = '',
		key = '',
		fieldPath = '',
		resource = '',
	} = (isObject(source) ? source : {}) as Readonly<Record<string, string | undefined>>;
	switch (kind) {
		case 'configMapKeyRef':
			return `# ${name} from configmap ${object}, key ${key}`;
		case 'secretKeyRef':
			return `# ${name} from secret ${object}, key ${key}`;
		default:
			return `# ${name} from ${kind === 'fieldRef' ? `field path ${fieldPath}` : `resource ${resource}`}`;
	}
}
