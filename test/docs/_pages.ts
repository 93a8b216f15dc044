// The pages of the documentation, as tests read them.

import {readFileSync, readdirSync} from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../../..');

export type Page = {
	/** From the root of the repository, with slashes. */
	readonly file: string;
	readonly text: string;
};

export const readPage = (file: string): Page => ({file, text: readFileSync(path.join(root, file), 'utf8')});

/** README, CHANGELOG and everything in docs/. */
export const pages = (): readonly Page[] => [
	...['README.md', 'CHANGELOG.md'].map(readPage),
	...readdirSync(path.join(root, 'docs'), {recursive: true, encoding: 'utf8'})
		.filter(name => name.endsWith('.md'))
		.map(name => readPage(`docs/${name}`)),
];

/** The text without its fenced blocks, where nothing is a link or a heading. */
export const prose = (text: string): string => text.replace(/^```[^]*?^```$/gm, '');

/** The cells of the rows of every table whose head begins with these words. */
export function tableRows(text: string, ...head: readonly string[]): readonly (readonly string[])[] {
	const lines = text.split('\n');
	return lines.flatMap((line, at) => {
		if (
			!cellsOf(line)
				.slice(0, head.length)
				.every((cell, column) => cell === head[column]) ||
			!line.startsWith('|')
		)
			return [];
		const rest = lines.slice(at + 2);
		const end = rest.findIndex(each => !each.startsWith('|'));
		return rest.slice(0, end < 0 ? rest.length : end).map(cellsOf);
	});
}

const cellsOf = (line: string): string[] =>
	line
		.split(/(?<!\\)\|/)
		.slice(1, -1)
		.map(cell => cell.trim());
