// docs/limits.md, made from api/limits.ts and what stands beside each limit there. `node build/test/docs/limits-page.js` writes it; a test
// compares.

import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {limits} from '../../api/limits.js';

const root = path.resolve(import.meta.dirname, '../../..');
export const limitsFile = path.join(root, 'docs/limits.md');

const head = `# Limits

Made from [api/limits.ts](../api/limits.ts), where every number that bounds something is. The unit is the end of the name; other numbers
are counts. What happens at a bound that people or programs can reach is told in [semantics.md](semantics.md#queues-and-bounds).
\`GET /troupe/v1/limits\` gives all of them for a running cluster.

| limit | value | what it bounds |
|---|---|---|
`;

/** What the source says of each limit: the comment above it, or above the first of those that follow one another. */
function wordsByName(source: string): ReadonlyMap<string, string> {
	const words = new Map<string, string>();
	let comment: string[] = [];
	let isOpen = false;
	for (const line of source.split('\n')) {
		const text = line.trim();
		const [, name] = /^(\w+): [\d_]+,$/.exec(text) ?? [];
		if (name !== undefined) words.set(name, comment.join(' '));
		else if (text === '') comment = [];
		else if (text.startsWith('/**')) [comment, isOpen] = [[], true];
		if (isOpen && name === undefined) comment.push(text.replace(/^(\/\*\*|\*\/|\*)\s?/, '').replace(/\s*\*\/$/, ''));
		if (text.endsWith('*/')) isOpen = false;
	}
	return words;
}

const cell = (text: string): string => text.trim().replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The whole page. */
export function limitsPage(): string {
	const words = wordsByName(readFileSync(path.join(root, 'api/limits.ts'), 'utf8'));
	return (
		head +
		Object.entries(limits)
			.map(([name, value]) => `| \`${name}\` | ${value} | ${cell(words.get(name) ?? '')} |\n`)
			.join('')
	);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(limitsFile, limitsPage());
