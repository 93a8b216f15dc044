// The schemas of all kinds as OpenAPI v3, one document for each group and version: what `kubectl explain` reads, and what tells clients
// that the server checks fields itself.

import {createHash} from 'node:crypto';
import {apiRootOf, apiVersionOf, kinds, olderVersionOf, olderVersions} from '../../api/catalogue.js';
import type {Descriptions, Schema} from '../../api/descriptions.cjs';
import type {KindDefinition} from '../../api/kind.js';
import type {Backend, Exchange} from './exchange.js';
import {jsonType, sendJson, sendText} from './reply.js';

const served: readonly KindDefinition[] = [...kinds, ...olderVersions.map(({kind}) => kind)];

type GroupVersion = Pick<KindDefinition, 'group' | 'version'>;

/** `api/v1`, `apis/apps/v1`: as the index names a document. */
const documentName = (of: GroupVersion): string => apiRootOf(of).slice(1);

export const openApiPath = (of: GroupVersion): string => `/openapi/v3/${documentName(of)}`;

/** The texts of all documents, made when they are first asked for. */
let made: Promise<ReadonlyMap<string, string>> | undefined;

const documents = (): Promise<ReadonlyMap<string, string>> => (made ??= makeDocuments());

async function makeDocuments(): Promise<ReadonlyMap<string, string>> {
	const {default: descriptions} = await import('../../api/descriptions.cjs');
	const versions = new Map(served.map(kind => [apiVersionOf(kind), {group: kind.group, version: kind.version}]));
	return new Map([...versions.values()].map(of => [documentName(of), JSON.stringify(documentOf(descriptions, of))]));
}

/** `GET /openapi/v3`: where each document is. The hash changes with it, since clients keep what they read. */
export async function openApiIndex(_backend: Backend, {response}: Exchange): Promise<void> {
	const entries = [...(await documents())].map(([name, text]) => {
		const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
		return [name, {serverRelativeURL: `/openapi/v3/${name}?hash=${hash}`}];
	});
	sendJson(response, 200, {paths: Object.fromEntries(entries) as object});
}

/** `GET /openapi/v3/api/v1`, `GET /openapi/v3/apis/GROUP/VERSION`. */
export const openApiDocument =
	(of: GroupVersion) =>
	async (_backend: Backend, {response}: Exchange): Promise<void> =>
		sendText(response, 200, jsonType, (await documents()).get(documentName(of)) ?? '{}');

function documentOf(descriptions: Descriptions, of: GroupVersion) {
	const own = served.filter(({group, version}) => group === of.group && version === of.version);
	return {
		openapi: '3.0.0',
		info: {title: 'Troupe', version: apiVersionOf(of)},
		paths: Object.assign({}, ...own.map(pathsOf)) as object,
		components: {
			schemas: Object.fromEntries([
				...Object.entries(descriptions.definitions).map(([name, schema]) => [componentOf(name), converted(schema)]),
				...own.map(kind => [
					componentOf(kind.kind),
					{
						...converted(olderVersionOf(kind)?.schema ?? descriptions.kinds[kind.kind] ?? {}),
						'x-kubernetes-group-version-kind': [kindWords(kind)],
					},
				]),
			]) as object,
		},
	};
}

/** What clients show as a type is the last part of a component's name. */
const componentOf = (name: string): string => `dev.troupe.${name === 'Metadata' ? 'ObjectMeta' : name}`;
const referenceTo = (name: string): string => `#/components/schemas/${componentOf(name)}`;
const kindWords = ({group, version, kind}: KindDefinition) => ({group, version, kind});

function pathsOf(kind: KindDefinition): object {
	const collection = `${apiRootOf(kind)}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}`;
	const named = (name: string) => ({name, in: 'path', required: true, schema: {type: 'string'}});
	const scope = kind.namespaced ? [named('namespace')] : [];
	const action = (verb: string, parameters: readonly string[] = []) => ({
		'x-kubernetes-action': verb,
		'x-kubernetes-group-version-kind': kindWords(kind),
		parameters: parameters.map(name => ({name, in: 'query', schema: {type: 'string'}})),
		responses: {200: {description: 'OK', content: {[jsonType]: {schema: {$ref: referenceTo(kind.kind)}}}}},
	});
	const write = ['dryRun', 'fieldManager', 'fieldValidation'];
	return {
		[collection]: {
			parameters: scope,
			get: action('list', ['labelSelector', 'fieldSelector', 'limit', 'continue']),
			post: action('post', write),
		},
		[`${collection}/{name}`]: {
			parameters: [...scope, named('name')],
			get: action('get'),
			put: action('put', write),
			patch: action('patch', write),
			delete: action('delete', ['dryRun', 'gracePeriodSeconds', 'propagationPolicy']),
		},
	};
}

/** A schema in OpenAPI's dialect: references by place, and one type at a time. */
function converted(schema: Schema): object {
	const {$ref, type, properties, items, additionalProperties, 'x-not-yet': _later, ...rest} = schema;
	const open = typeof additionalProperties === 'object' ? {additionalProperties: converted(additionalProperties)} : {};
	return {
		...rest,
		...($ref === undefined ? {} : {allOf: [{$ref: referenceTo($ref)}]}),
		...(type === undefined ? {} : typeof type === 'string' ? {type} : {oneOf: type.map(each => ({type: each}))}),
		...(properties === undefined
			? {}
			: {properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, converted(each)]))}),
		...(items === undefined ? {} : {items: converted(items)}),
		...open,
	};
}
