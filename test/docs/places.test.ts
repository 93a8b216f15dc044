// Nothing in the repository names a folder of the machine it was made on, or a host to take packages from.

import {readFileSync, readdirSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {root} from './_pages.js';

const folders = ['api', 'system', 'actors', 'agent', 'server', 'cli', 'test', 'bench', 'docs', 'examples', '.ci'];

/** Every file that is kept: what is in the folders of the repository, and the files beside them. */
function files(): readonly string[] {
	const inFolders = folders.flatMap(folder =>
		readdirSync(path.join(root, folder), {recursive: true, withFileTypes: true})
			.filter(entry => entry.isFile())
			.map(entry => path.relative(root, path.join(entry.parentPath, entry.name))),
	);
	const beside = readdirSync(root, {withFileTypes: true}).filter(entry => entry.isFile() && entry.name !== '.eslintcache');
	return [...inFolders, ...beside.map(({name}) => name)];
}

/** Folders of the user who runs this test: where the clone is, and the user's own. Ada's is the one of the README. */
const ownFolders = [root, homedir()].filter(folder => folder !== '/' && folder !== '/home/ada').map(folder => `${folder}/`);

/** Hosts that packages and images come from; written so that this file does not name one. Debian calls a package like one, beside `iptables`. */
const hosts = /\bregistry\.[a-z]|\b(?:npmjs|yarnpkg|artifactory|verdaccio)\b|\b(?:quay|ghcr|gcr|docker)\.io\b(?! iptables)/i;

test('no file names a folder of this machine', t => {
	for (const file of files()) {
		const text = readFileSync(path.join(root, file), 'utf8');
		for (const folder of ownFolders) t.false(text.includes(folder), `${file} names ${folder}`);
	}
});

test('no file names a host that packages or images are taken from', t => {
	const self = path.join('test', 'docs', 'places.test.ts');
	for (const file of files()) {
		if (file !== self) t.notRegex(readFileSync(path.join(root, file), 'utf8'), hosts, file);
	}
});
