// Where a word is to be found after everything: files of a folder, what a store holds unpacked, command lines of all processes.

import {readdirSync, readFileSync, type Dirent} from 'node:fs';
import path from 'node:path';
import {storePrefix} from '../../api/keys.js';
import {openLevelStore} from '../../system/store/level-store.js';

/** How a secret word may look when it leaks: plain, as base64, as hex. */
export const formsOf = (word: string): readonly string[] => [
	word,
	Buffer.from(word).toString('base64').replace(/=+$/, ''),
	Buffer.from(word).toString('base64url'),
	Buffer.from(word).toString('hex'),
];

export const shows = (text: string, words: readonly string[]): boolean => words.flatMap(formsOf).some(form => text.includes(form));

/** Files below the folder that have one of the words in any form. */
export const filesThatShow = (folder: string, words: readonly string[]): readonly string[] =>
	filesBelow(folder).filter(file => shows(textOf(file), words) || shows(path.basename(file), words));

/** A folder that goes while it is walked has none. */
function filesBelow(folder: string): readonly string[] {
	return entriesOf(folder).flatMap(entry => {
		const file = path.join(folder, entry.name);
		return entry.isDirectory() ? filesBelow(file) : entry.isFile() ? [file] : [];
	});
}

function entriesOf(folder: string): readonly Dirent[] {
	try {
		return readdirSync(folder, {withFileTypes: true});
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
		throw error;
	}
}

/** Empty for a file that is gone since it was listed: whoever owns the folder works on. */
function textOf(file: string): string {
	try {
		return readFileSync(file, 'latin1');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
		throw error;
	}
}

/** Every record of a store that nobody has open: its files may be compressed. */
export async function recordsOf(directory: string): Promise<string> {
	const store = await openLevelStore(directory);
	try {
		const {records} = await store.snapshot(storePrefix);
		const texts: string[] = [];
		for await (const portion of records) texts.push(...portion.map(({key, body}) => `${key} ${body}`));
		return texts.join('\n');
	} finally {
		await store.close();
	}
}

/** Of all processes of the machine. */
export const commandLines = (): string =>
	readdirSync('/proc')
		.filter(name => /^\d+$/.test(name))
		.map(name => {
			try {
				return readFileSync(`/proc/${name}/cmdline`, 'latin1');
			} catch {
				return ''; // It ended while we looked.
			}
		})
		.join('\n');
