// A command in one text, taken apart as a shell would, without its variables and patterns: POSIX, "Shell Command Language", quoting.

const word = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)|(\s+)|([^])/gy;

/** The words of a command; undefined where a quote is not closed. */
export function shellWords(text: string): readonly string[] | undefined {
	const words: string[] = [];
	let current: string | undefined;
	for (const [, single, double, escaped, plain, space, stray] of text.matchAll(word)) {
		if (stray !== undefined) return undefined;
		if (space === undefined) current = (current ?? '') + (single ?? double?.replace(/\\([$`"\\])/g, '$1') ?? escaped ?? plain ?? '');
		else if (current !== undefined) {
			words.push(current);
			current = undefined;
		}
	}
	return current === undefined ? words : [...words, current];
}
