// The tables of docs/manifests.md, made from the catalogue, the dialects and the schemas; what stands around them is written by hand.
// `node build/test/docs/manifests-page.js` writes them; a test compares.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {apiVersionOf, kinds} from '../../api/catalogue.js';
import descriptions, {type Schema} from '../../api/descriptions.cjs';
import {normalise, spellings} from '../../api/dialects/normalise.js';
import {older} from '../api/_manifests.js';
import {root} from './_pages.js';

export const manifestsFile = path.join(root, 'docs/manifests.md');

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
	[head, head.map(() => '---'), ...rows].map((cells, i) => (i === 1 ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`)).join('\n');

const kindsTable = table(
	['kind', 'apiVersion', 'also called'],
	kinds.map(kind => [kind.kind, `\`${apiVersionOf(kind)}\``, [kind.plural, ...kind.shortNames].map(word => `\`${word}\``).join(', ')]),
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
	const target = schema.$ref === undefined ? schema : (descriptions.definitions[schema.$ref] ?? {});
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
	refusedBelow({$ref: 'PodSpec'}, 'spec')
		.filter(([part]) => isSaidOnce(part))
		.map(([part, fields]) => [`\`${part}\``, fields.map(field => `\`${field}\``).join(', ')]),
);

/** The page with its tables as they have to be: each is found by its first line. */
export const manifestsPage = (): string =>
	[kindsTable, spellingsTable, refusedTable].reduce(
		(page, made) => {
			const [head = ''] = made.split('\n', 1);
			const start = page.indexOf(`\n${head}\n`) + 1;
			if (start === 0) throw new Error(`docs/manifests.md has no table that begins with ${head}`);
			return page.slice(0, start) + made + page.slice(page.indexOf('\n\n', start));
		},
		readFileSync(manifestsFile, 'utf8'),
	);

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(manifestsFile, manifestsPage());
