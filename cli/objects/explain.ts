// What a kind's fields are, found in the schemas and drawn in kubectl's manner. Pure.

import type {Descriptions, Schema} from '../../api/descriptions.cjs';
import type {KindDefinition} from '../../api/kind.js';
import {apiVersionOf} from '../../api/catalogue.js';
import {didYouMean} from '../../api/suggest.js';

export type Field = {
	readonly name: string;
	/** `string`, `[]Container`, `map[string]string`, `integer|string`. */
	readonly type: string;
	readonly required: boolean;
	readonly description?: string;
	readonly enum?: readonly unknown[];
	readonly default?: unknown;
	readonly minimum?: number;
	readonly maximum?: number;
	/** What is in it, as deep as it was asked for. */
	readonly fields?: readonly Field[];
};

/** What is explained: a kind, or a field of one. */
export type Explained = Omit<Field, 'name'> & {readonly kind: string; readonly apiVersion: string; readonly path: string};

export type Explanation = {readonly ok: true; readonly value: Explained} | {readonly ok: false; readonly problem: string};

type Kind = Pick<KindDefinition, 'kind' | 'group' | 'version' | 'singular'>;

/** Follows the path; lists are looked through. `depth` levels of fields are told below it. */
export function explain(descriptions: Descriptions, kind: Kind, path: readonly string[], depth: number): Explanation {
	let schema: Schema = descriptions.kinds[kind.kind] ?? {};
	let required = false;
	for (const [at, name] of path.entries()) {
		const parent = inside(descriptions, schema);
		const next = own(parent.properties, name);
		if (next === undefined) return {ok: false, problem: unknownField(descriptions, kind, path.slice(0, at), name, parent)};
		required = parent.required?.includes(name) === true;
		schema = next;
	}
	const {name: _path, ...field} = fieldOf(descriptions, path.join('.'), schema, required, depth);
	return {ok: true, value: {kind: kind.kind, apiVersion: apiVersionOf(kind), path: path.join('.'), ...field}};
}

const own = <Value>(members: {readonly [name: string]: Value} | undefined, name: string): Value | undefined =>
	members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined;

const resolved = ({definitions}: Descriptions, schema: Schema): Schema =>
	schema.$ref === undefined
		? schema
		: {...definitions[schema.$ref], ...(schema.description === undefined ? {} : {description: schema.description})};

/** What has the fields: of a list its items. */
function inside(descriptions: Descriptions, schema: Schema): Schema {
	const found = resolved(descriptions, schema);
	return found.items === undefined ? found : inside(descriptions, found.items);
}

function fieldOf(descriptions: Descriptions, name: string, schema: Schema, required: boolean, depth: number): Field {
	const {description = inside(descriptions, schema).description, default: usual, minimum, maximum} = resolved(descriptions, schema);
	const words = inside(descriptions, schema).enum;
	const {properties, required: needed = []} = inside(descriptions, schema);
	const fields =
		properties === undefined || depth <= 0
			? undefined
			: Object.entries(properties)
					.toSorted(([a], [b]) => (a < b ? -1 : 1))
					.map(([each, below]) => fieldOf(descriptions, each, below, needed.includes(each), depth - 1));
	return {
		name,
		type: typeOf(descriptions, schema),
		required,
		...(description === undefined ? {} : {description}),
		...(words === undefined ? {} : {enum: words}),
		...(usual === undefined ? {} : {default: usual}),
		...(minimum === undefined ? {} : {minimum}),
		...(maximum === undefined ? {} : {maximum}),
		...(fields === undefined ? {} : {fields}),
	};
}

/** What Kubernetes calls our definitions where we have another word. */
const definitionName = (name: string): string => (name === 'Metadata' ? 'ObjectMeta' : name);

function typeOf(descriptions: Descriptions, schema: Schema): string {
	if (schema.$ref !== undefined) return definitionName(schema.$ref);
	if (schema.items !== undefined) return `[]${typeOf(descriptions, schema.items)}`;
	if (typeof schema.additionalProperties === 'object') return `map[string]${typeOf(descriptions, schema.additionalProperties)}`;
	if (schema.type === 'object') return 'Object';
	return schema.type === undefined ? 'any' : [schema.type].flat().join('|');
}

const where = (kind: Kind, path: readonly string[]): string => [kind.singular, ...path].join('.');

function unknownField(descriptions: Descriptions, kind: Kind, path: readonly string[], name: string, parent: Schema): string {
	const known = Object.keys(parent.properties ?? {});
	if (parent['x-not-yet']?.includes(name) === true)
		return `${where(kind, [...path, name])} is a field of Kubernetes that is not in this version yet`;
	const problem = `${where(kind, path)} has no field "${name}"`;
	if (known.length === 0) return `${problem}: it is no object with fields`;
	const near = didYouMean(name, known);
	if (near !== '') return problem + near;
	const elsewhere = placeOf(descriptions, kind, name);
	return elsewhere === undefined ? `${problem}; it has ${known.join(', ')}` : `${problem}; did you mean "${where(kind, elsewhere)}"?`;
}

/** The nearest place from the top of the kind where there is such a field. */
function placeOf(descriptions: Descriptions, {kind}: Kind, name: string): readonly string[] | undefined {
	const queue: {readonly path: readonly string[]; readonly schema: Schema}[] = [{path: [], schema: descriptions.kinds[kind] ?? {}}];
	for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
		const {properties = {}} = inside(descriptions, next.schema);
		if (Object.hasOwn(properties, name)) return [...next.path, name];
		for (const [each, schema] of Object.entries(properties)) queue.push({path: [...next.path, each], schema});
	}
	return undefined;
}

/** The text for people; `recursive`: only names and types, all the way down. */
export function drawExplained({kind, apiVersion, path, ...field}: Explained, recursive: boolean): string {
	const head = [`KIND:     ${kind}`, `VERSION:  ${apiVersion}`, ''];
	const about = path === '' ? [] : [`FIELD:    ${path} <${field.type}>${field.required ? ' -required-' : ''}`, ''];
	const description = field.description === undefined ? [] : ['DESCRIPTION:', ...wrapped(field.description, '    '), ''];
	const notes = notesOf(field).map(note => `    ${note}`);
	const fields = field.fields ?? [];
	const list = fields.length === 0 ? [] : ['FIELDS:', ...(recursive ? drawTree(fields, '  ') : fields.flatMap(drawField))];
	return [...head, ...about, ...description, ...(notes.length === 0 ? [] : [...notes, '']), ...list].join('\n').trimEnd() + '\n';
}

const headOf = ({name, type, required}: Field): string => `${name} <${type}>${required ? ' -required-' : ''}`;

const drawField = (field: Field): readonly string[] => [
	`  ${headOf(field)}`,
	...(field.description === undefined ? [] : wrapped(field.description, '    ')),
	...notesOf(field).map(note => `    ${note}`),
	'',
];

const drawTree = (fields: readonly Field[], indent: string): readonly string[] =>
	fields.flatMap(field => [`${indent}${headOf(field)}`, ...drawTree(field.fields ?? [], `${indent}  `)]);

const maxInt32 = 2_147_483_647;

function notesOf({enum: words, default: usual, minimum, maximum}: Omit<Field, 'name' | 'type' | 'required'>): readonly string[] {
	const low = minimum === undefined || minimum <= -maxInt32 ? undefined : minimum;
	const high = maximum === undefined || maximum >= maxInt32 ? undefined : maximum;
	return [
		...(words === undefined ? [] : [`one of: ${words.map(String).join(', ')}`]),
		...(usual === undefined ? [] : [`default: ${JSON.stringify(usual)}`]),
		...(low === undefined && high === undefined
			? []
			: [[low === undefined ? '' : `from ${low}`, high === undefined ? '' : `to ${high}`].join(' ').trim()]),
	];
}

const lineWidth = 80;

function wrapped(text: string, indent: string): readonly string[] {
	const lines: string[] = [];
	let line = '';
	for (const word of text.split(/\s+/)) {
		if (line !== '' && indent.length + line.length + 1 + word.length > lineWidth) {
			lines.push(indent + line);
			line = '';
		}
		line += line === '' ? word : ` ${word}`;
	}
	return line === '' ? lines : [...lines, indent + line];
}
