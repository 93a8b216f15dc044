// The tables of docs/manifests.md say what the code does.

import {readFileSync} from 'node:fs';
import test from 'ava';
import {manifestsFile, manifestsPage} from './manifests-page.js';

test('docs/manifests.md has the tables that the code makes (node build/test/docs/manifests-page.js writes them)', t => {
	t.is(readFileSync(manifestsFile, 'utf8'), manifestsPage());
});
