// The tables of docs/manifests.md say what the code does.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {apiVersionOf, kinds} from '../../api/catalogue.js';
import {normalise, spellings} from '../../api/dialects/normalise.js';
import {definitions} from '../../api/schemas/definitions.js';
import {older} from './_manifests.js';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/manifests.md'), 'utf8');

type Schema = {
	readonly description?: string;
	readonly $ref?: string;
	readonly 'x-not-yet'?: readonly string[];
	readonly properties?: {readonly [field: string]: Schema};
	readonly items?: Schema;
};

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
	[head, head.map(() => '---'), ...rows].map((cells, i) => (i === 1 ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`)).join('\n');

const kindsTable = table(
	['kind', 'apiVersion', 'also called', 'in this version'],
	kinds.map(kind => [
		kind.kind,
		`\`${apiVersionOf(kind)}\``,
		[kind.plural, ...kind.shortNames].map(word => `\`${word}\``).join(', '),
		kind.isInert === true ? 'kept' : 'acted on',
	]),
);

/** A document of each spelling, as far as one decides how it is read. */
const documentOf = (spelling: string): object => {
	const [apiVersion = '', kind = ''] = spelling.split(' ');
	return (
		Object.values(older).find(each => each.apiVersion === apiVersion && each.kind === kind) ?? {apiVersion, kind, metadata: {name: 'a'}}
	);
};

function readAs(spelling: string): string {
	const read = normalise(documentOf(spelling));
	return read.ok ? `${read.object.apiVersion} ${read.object.kind}` : 'refused';
}

const spellingsTable = table(
	['written', 'read as'],
	spellings.map(spelling => [`\`${spelling}\``, `\`${readAs(spelling)}\``]),
);

const isRefused = ({description}: Schema): boolean => description === 'Not supported yet.';

/** What is refused below a part of a pod, part by part. */
function refusedBelow(schema: Schema, at: string): readonly (readonly [part: string, fields: readonly string[]])[] {
	const own = definitions as unknown as {readonly [name: string]: Schema};
	const target = schema.$ref === undefined ? schema : (own[schema.$ref] ?? {});
	const members = Object.entries(target.properties ?? {});
	const fields = [...(target['x-not-yet'] ?? []), ...members.filter(([, member]) => isRefused(member)).map(([field]) => field)].sort();
	const deeper = members.flatMap(([field, member]) => [
		...refusedBelow(member, `${at}.${field}`),
		...(member.items === undefined ? [] : refusedBelow(member.items, `${at}.${field}[]`)),
	]);
	return [...(fields.length === 0 ? [] : [[at, fields] as const]), ...deeper];
}

/** Init containers are containers, and all probes are alike. */
const isSaidOnce = (part: string): boolean =>
	!part.includes('initContainers') && !part.includes('readinessProbe') && !part.includes('startupProbe') && !part.includes('preferred');

const refusedTable = table(
	['part', 'refused'],
	refusedBelow(definitions.PodSpec as Schema, 'spec')
		.filter(([part]) => isSaidOnce(part))
		.map(([part, fields]) => [`\`${part}\``, fields.map(field => `\`${field}\``).join(', ')]),
);

for (const [title, wanted] of Object.entries({kinds: kindsTable, spellings: spellingsTable, 'refused fields': refusedTable})) {
	test(`the table of ${title} is that of the code`, t => t.true(page.includes(`\n${wanted}\n`), wanted));
}
