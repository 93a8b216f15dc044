// Test files gathered: one process runs those of a layer that have no effects, another one those that are small (`small.ts`), for to start a
// process for each takes longer than most of them do.
//
// A file is without effects when nothing that it imports, over however many modules, does I/O or looks at a clock, and it asks AVA for no order.

import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {smallFiles} from './small.js';

const harmless: ReadonlySet<string> = new Set(
	['assert', 'buffer', 'crypto', 'events', 'path', 'perf_hooks', 'process', 'stream', 'string_decoder', 'url', 'util', 'zlib']
		.map(name => `node:${name}`)
		.concat(['ava', 'ajv', 'croner', 'diff', 'fast-check', 'leven', 'picocolors', 're2js', 'string-width', 'typebox', 'yaml']),
);
const effects = /\btest\.(?:serial|before|after)|\bsetTimeout\(|\bprocess\.(?:env|on)\b|\bDate\.now\(|\bperformance\.now\(/;
const imports = /\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;
/** Folders whose files take long each. */
const alone: ReadonlySet<string> = new Set(['simulation']);
/** Of the files that import them, below that of all tests. */
const gatheredFolder = 'gathered';
/** Folders with files of which this lane has none: those of longer lanes, and what is made here. */
const otherLanes: ReadonlySet<string> = new Set([gatheredFolder, 'long', 'real']);

/**
 * Writes test files for each folder in `tests`, one of compiled tests, below which there are files to gather: they import them. Returns patterns
 * for AVA that leave those out.
 */
export function gather(tests: string): readonly string[] {
	const into = path.join(tests, gatheredFolder);
	mkdirSync(into, {recursive: true});
	const groups = new Map([...withoutEffects(tests), ...small(tests)].filter(([, files]) => files.length > 1));
	const wanted = new Map([...groups].map(([group, files]) => [`${group}.test.js`, files.map(file => `import '../${file}';\n`).join('')]));
	for (const name of readdirSync(into)) if (!wanted.has(name)) rmSync(path.join(into, name));
	// What is as it should be stays: another run in this folder may be reading it.
	for (const [name, text] of wanted) if (textOf(path.join(into, name)) !== text) writeFileSync(path.join(into, name), text);
	return [...groups.values()].flat().map(file => `!${path.join(tests, file)}`);
}

/** Files by the name of their group. */
type Groups = ReadonlyMap<string, readonly string[]>;

function withoutEffects(tests: string): Groups {
	const isHarmless = createHarmlessCheck();
	const byFolder = new Map<string, string[]>();
	for (const file of readdirSync(tests, {recursive: true, encoding: 'utf8'}).toSorted()) {
		const folders = file.split(path.sep);
		if (!file.endsWith('.test.js') || folders.some(each => otherLanes.has(each)) || !isHarmless(path.resolve(tests, file))) continue;
		const [folder = ''] = folders;
		byFolder.set(folder, [...(byFolder.get(folder) ?? []), file]);
	}
	return new Map([...byFolder].filter(([folder]) => !alone.has(folder)));
}

const small = (tests: string): Groups =>
	new Map(
		Object.entries(smallFiles).map(([layer, names]) => {
			const files = names.map(name => `${layer}/${name}.test.js`);
			return [`${layer}-small`, files.filter(file => existsSync(path.join(tests, file)))];
		}),
	);

const textOf = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/** Whether a module, and what it imports, has no effects. */
function createHarmlessCheck(): (file: string) => boolean {
	const known = new Map<string, boolean>();
	return function isHarmless(file: string): boolean {
		const found = known.get(file);
		if (found !== undefined) return found;
		known.set(file, true); // Until it is known: modules may import each other.
		const text = readFileSync(file, 'utf8');
		const imported = [...text.matchAll(imports)].map(([, from, alone, late]) => from ?? alone ?? late ?? '');
		const is =
			!effects.test(text) &&
			imported.every(name =>
				name.startsWith('.') ? isHarmless(path.resolve(path.dirname(file), name)) : harmless.has(name.split('/', 1)[0] ?? ''),
			);
		known.set(file, is);
		return is;
	};
}
