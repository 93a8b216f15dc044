// Texts that a program is given: words of its command, its environment, paths. The operating system does not take every text that JSON does.

import {itemsOf, refuse, type Found} from './report.js';

/** Half of a character of two halves: no UTF-8 can be made of it. */
const half = /\p{Surrogate}/u;

export function checkProgramText(found: Found, path: string, text: string): void {
	if (text.includes('\0')) refuse(found, path, 'must not contain a NUL character');
	else if (half.test(text)) refuse(found, path, 'must be Unicode, and has half of a surrogate pair');
}

/** The same of each text of a list. */
export function checkProgramTexts(found: Found, path: string, words: unknown): void {
	itemsOf(words).forEach((word, i) => {
		if (typeof word === 'string') checkProgramText(found, `${path}[${i}]`, word);
	});
}
