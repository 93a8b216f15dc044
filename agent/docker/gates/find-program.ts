// The file of a container's program, as the container's own root has it: what runc would run for the same words.
//
// Source: Go's exec.LookPath, which runc asks with the container's PATH and working directory.

import {lstatSync, readlinkSync, type Stats} from 'node:fs';
import path from 'node:path';
import {valueOr} from '../../../api/value-or.js';

export type Program = {
	readonly word: string;
	/** Of its environment. */
	readonly path: string;
	/** Absolute, as the container has it. */
	readonly workingDir: string;
};

/** The kernel follows no more in one path. */
const mostLinks = 40;

/** The program's absolute path in the container whose root is seen at `root`. Throws an Error in runc's words where there is none. */
export function findProgram(root: string, {word, path: searched, workingDir}: Program): string {
	if (word.includes('/')) {
		const file = path.resolve(workingDir, word);
		const stats = statIn(root, file);
		if (stats === undefined) throw new Error(`exec: "${word}": stat ${word}: no such file or directory`);
		if (stats.isDirectory()) throw new Error(`exec: "${word}": is a directory`);
		if (!isExecutable(stats)) throw new Error(`exec: "${word}": permission denied`);
		return file;
	}
	for (const folder of searched.split(':')) {
		const file = path.resolve(workingDir, folder, word);
		const stats = word === '' ? undefined : statIn(root, file);
		if (stats !== undefined && isExecutable(stats)) return file;
	}
	throw new Error(`exec: "${word}": executable file not found in $PATH`);
}

const isExecutable = (stats: Stats): boolean => stats.isFile() && (stats.mode & 0o111) !== 0;

/** What a path is for a process with that root: links never lead out of it. Undefined: there is nothing. */
function statIn(root: string, file: string): Stats | undefined {
	let rest = file.split('/');
	let at: string[] = [];
	let links = 0;
	let stats = lookAt(root, at);
	while (rest.length > 0) {
		const [name = '', ...others] = rest;
		rest = others;
		if (name === '' || name === '.') continue;
		if (name === '..') {
			at = at.slice(0, -1);
			stats = lookAt(root, at);
			continue;
		}
		stats = lookAt(root, [...at, name]);
		if (stats === undefined) return undefined;
		if (!stats.isSymbolicLink()) {
			at = [...at, name];
			continue;
		}
		const target = valueOr(undefined, () => readlinkSync([root, ...at, name].join('/')));
		links += 1;
		if (target === undefined || links > mostLinks) return undefined;
		if (target.startsWith('/')) at = [];
		rest = [...target.split('/'), ...rest];
		stats = lookAt(root, at);
	}
	return stats;
}

/** No part of `names` is a link: what is looked at is in that root. */
const lookAt = (root: string, names: readonly string[]): Stats | undefined =>
	valueOr(undefined, () => lstatSync([root, ...names, ''].slice(0, names.length === 0 ? undefined : -1).join('/')));
