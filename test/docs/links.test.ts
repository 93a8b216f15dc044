// What the documentation points to is there.

import {existsSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {pages, prose, readPage, root, type Page} from './_pages.js';

/** Targets of links and pictures that are not on the web. */
const targetsOf = ({text}: Page): readonly string[] =>
	[...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(match => match[1] ?? '').filter(target => !/^[a-z]+:/.test(target));

/** Headings as GitHub makes anchors of them. */
const anchorsOf = ({text}: Page): readonly string[] =>
	[...prose(text).matchAll(/^#+ (.*)$/gm)].map(match =>
		(match[1] ?? '')
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\s_-]/gu, '')
			.trim()
			.replaceAll(' ', '-'),
	);

function brokenIn(page: Page): readonly string[] {
	return targetsOf(page).filter(target => {
		const [file = '', anchor] = target.split('#');
		const to = file === '' ? page.file : path.posix.join(path.posix.dirname(page.file), decodeURI(file));
		if (to.startsWith('..') || !existsSync(path.join(root, to))) return true;
		return anchor !== undefined && !anchorsOf(readPage(to)).includes(anchor);
	});
}

test('every link between pages, and from a page to a source, resolves', t => {
	for (const page of pages()) t.deepEqual(brokenIn(page), [], page.file);
});

test('every source that a page names in code letters is there', t => {
	const named = /`((?:api|system|actors|agent|server|cli|test|examples|docs)\/[\w./-]+)`/g;
	for (const page of pages()) {
		const missing = [...prose(page.text).matchAll(named)].map(match => match[1] ?? '').filter(file => !existsSync(path.join(root, file)));
		t.deepEqual(missing, [], page.file);
	}
});
