// `node build/test/real/record-inspector.js`: goes through the session of the inspector and puts what the screen showed into docs/inspector.md, in the
// place of each block ```text session:NAME-COLUMNS.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {root} from '../e2e/_readme.js';
import {openTour, walk} from './_inspector-tour.js';

const page = path.join(root, 'docs/inspector.md');
const cleanings: (() => unknown)[] = [];
try {
	for (const columns of [80, 200]) {
		const tour = await openTour({teardown: clean => void cleanings.unshift(clean)}, columns);
		await walk(tour);
		let text = readFileSync(page, 'utf8');
		for (const [name, shown] of tour.shown) {
			const lines = shown.split('\n').map(line => line.trimEnd());
			// The prompt that waits for the next line says nothing.
			const told = /^\S*>$/.test(lines.at(-1) ?? '') ? lines.slice(0, -1) : lines;
			text = text.replace(
				new RegExp(`(^\`\`\`text session:${name}-${columns}\\n)[^]*?(^\`\`\`$)`, 'm'),
				(_all, begin: string, end: string) => `${begin}${told.join('\n')}\n${end}`,
			);
		}
		writeFileSync(page, text);
	}
} finally {
	for (const clean of cleanings) await clean();
}
