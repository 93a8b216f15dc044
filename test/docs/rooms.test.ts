// The map of the rooms in docs/architecture.md has each folder of the sources, and no other.

import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {root} from './_pages.js';

const layers = ['api', 'system', 'actors', 'agent', 'server', 'cli', 'bench'];

test('each folder of the sources has a line in the map', t => {
	const found = layers.flatMap(layer => [
		layer,
		...readdirSync(path.join(root, layer), {recursive: true, withFileTypes: true})
			.filter(entry => entry.isDirectory())
			.map(entry => path.relative(root, path.join(entry.parentPath, entry.name))),
	]);
	// The two trees are of their own: `actors/control/` stands at the beginning of a line.
	t.deepEqual([...new Set(['actors', ...mapped()])].sort(), found.sort());
});

/** The folders of the map, where two spaces of indentation are one step down. */
function mapped(): readonly string[] {
	const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
	const map = /## Rooms[\s\S]*?```text\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
	const above: string[] = [];
	return [...map.matchAll(/^( *)((?:[\w/-]+\/ ?)+)/gm)].flatMap(([, indent = '', names = '']) => {
		const depth = indent.length / 2;
		const inside = names.trim().split(' ');
		above.splice(depth, above.length, inside.at(-1) ?? '');
		return inside.map(name => path.join(...above.slice(0, depth), name).replace(/\/$/, ''));
	});
}
