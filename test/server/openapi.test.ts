import test from 'ava';
import {apiRootOf, kinds} from '../../api/catalogue.js';
import {openDoor} from './door.js';

type Index = {paths: Record<string, {serverRelativeURL: string}>};
type Schema = {$ref?: string; [field: string]: unknown};
type Document = {
	openapi: string;
	paths: Record<string, {patch?: {parameters: {name: string; in: string}[]; 'x-kubernetes-group-version-kind': object}}>;
	components: {schemas: Record<string, Schema>};
};

test('every kind has a schema, and a patch by which clients see that the server checks fields', async t => {
	const {json} = await openDoor(t);
	const {paths} = await json<Index>(200, 'GET', '/openapi/v3');
	for (const kind of kinds) {
		const root = apiRootOf(kind);
		const url = paths[root.slice(1)]?.serverRelativeURL ?? '';
		t.regex(url, new RegExp(`^/openapi/v3${root}\\?hash=[0-9a-f]{32}$`));
		const document = await json<Document>(200, 'GET', url);
		const words = {group: kind.group, version: kind.version, kind: kind.kind};
		const schemas = Object.values(document.components.schemas);
		t.true(
			schemas.some(schema => JSON.stringify(schema['x-kubernetes-group-version-kind']) === JSON.stringify([words])),
			kind.kind,
		);
		const {patch} = document.paths[`${root}${kind.namespaced ? '/namespaces/{namespace}' : ''}/${kind.plural}/{name}`] ?? {};
		t.deepEqual(patch?.['x-kubernetes-group-version-kind'], words);
		t.true(patch?.parameters.some(({name, in: place}) => name === 'fieldValidation' && place === 'query'));
	}
});

test('references lead to schemas of the same document, and no type is a list', async t => {
	const {json} = await openDoor(t);
	const {openapi, components} = await json<Document>(200, 'GET', '/openapi/v3/api/v1');
	t.is(openapi, '3.0.0');
	const text = JSON.stringify(components);
	const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(match => match[1] ?? '');
	t.true(references.length > 5);
	t.deepEqual(
		references.filter(name => components.schemas[name] === undefined),
		[],
	);
	t.notRegex(text, /"type":\[|x-not-yet/);
	t.like(components.schemas['dev.troupe.PodSpec'], {type: 'object'});
});
