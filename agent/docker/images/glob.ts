// Patterns of Go's path/filepath.Match, for texts without a slash: `*`, `?`, `[a-c]`, `[^a-c]`, `\x`. Pure; takes time in proportion to both lengths'
// product at most, whatever the pattern.

type Matcher = 'any' | ((character: string) => boolean);

/** Whether the whole text is of this form; a pattern that is none matches nothing. */
export function matchesGlob(pattern: string, text: string): boolean {
	const matchers = matchersOf(pattern);
	if (matchers === undefined) return false;
	let at = 0;
	let here = 0;
	/** The last `*`, and how far the text went for it: one more each time what follows does not fit. */
	let star: {readonly at: number; from: number} | undefined;
	while (here < text.length) {
		const matcher = matchers[at];
		if (matcher === 'any') {
			star = {at, from: here};
			at += 1;
		} else if (matcher?.(text.charAt(here)) === true) {
			at += 1;
			here += 1;
		} else if (star === undefined) {
			return false;
		} else {
			star.from += 1;
			here = star.from;
			at = star.at + 1;
		}
	}
	return matchers.slice(at).every(matcher => matcher === 'any');
}

function matchersOf(pattern: string): readonly Matcher[] | undefined {
	const matchers: Matcher[] = [];
	for (let rest = pattern; rest !== '';) {
		const found = /^(?:(\*)|(\?)|\[(\^?)((?:\\.|[^\]\\])+)\]|\\(.)|([^[\]\\]))/su.exec(rest);
		if (found === null) return undefined;
		const [all, any, one, not, range, escaped, plain] = found;
		rest = rest.slice(all.length);
		if (any !== undefined) matchers.push('any');
		else if (one !== undefined) matchers.push(() => true);
		else if (range !== undefined) matchers.push(character => isIn(range, character) === (not === ''));
		else matchers.push(character => character === (escaped ?? plain));
	}
	return matchers;
}

const isIn = (range: string, character: string): boolean =>
	[...range.matchAll(/\\?(.)(?:-\\?(.))?/gsu)].some(([, low = '', high = low]) => low <= character && character <= high);
