// A copy of the project made of hard links, in which one file may be another one.

import {spawnSync} from 'node:child_process';
import {cpSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {withMistake, type Mistake} from './mistake.js';
import {transpiled} from './transpiled.js';

export const root = path.resolve(import.meta.dirname, '../../..');

const notLinked = ['.git', 'node_modules'];

/** Whoever makes one removes it; what is left behind goes with the folder of the lane. */
export function makeTree(): string {
	const tree = mkdtempSync(path.join(os.tmpdir(), 'tree-'));
	for (const name of readdirSync(root)) if (!notLinked.includes(name)) link(path.join(root, name), path.join(tree, name));
	symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
	return tree;
}

function link(from: string, to: string): void {
	try {
		linkSync(from, to);
	} catch (error) {
		const {code} = error as NodeJS.ErrnoException;
		if (code === 'EXDEV') return cpSync(from, to, {preserveTimestamps: true});
		if (code !== 'EPERM') throw error; // Folders cannot be linked.
		mkdirSync(to);
		for (const name of readdirSync(from)) link(path.join(from, name), path.join(to, name));
	}
}

/** Builds the file with the mistake, and what is made of it. */
export function plant(tree: string, mistake: Mistake): void {
	const {file} = mistake;
	const source = withMistake(readFileSync(path.join(root, file), 'utf8'), mistake);
	replace(path.join(tree, 'build', file.replace(/\.ts$/, '.js')), transpiled(source, file));
	if (!file.startsWith('api/schemas/')) return;
	for (const name of ['validators.cjs', 'descriptions.cjs', 'patch-schemas.cjs']) rmSync(path.join(tree, 'build/api', name));
	const {status, stderr} = spawnSync(process.execPath, [path.join(tree, 'build/cli/prepare/compile-validators.js')], {encoding: 'utf8'});
	if (status !== 0) throw new Error(`${file}: no validators can be made of it: ${stderr}`);
}

/** Never written into: it is the same file as that of the project. */
function replace(file: string, text: string): void {
	rmSync(file);
	writeFileSync(file, text);
}
