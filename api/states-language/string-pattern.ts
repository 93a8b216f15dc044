// Patterns of StringMatches: `*` stands for any characters, `\*` for a star, `\\` for a backslash.

/** Whether the whole text is as the pattern says. The pieces between the stars are sought one after the other: no way is tried twice. */
export function matchesPattern(text: string, pattern: string): boolean {
	const pieces = piecesOf(pattern);
	const [first = '', ...rest] = pieces;
	const last = rest.pop();
	if (last === undefined) return text === first;
	if (!text.startsWith(first) || !text.endsWith(last)) return false;
	const end = text.length - last.length;
	let at = first.length;
	for (const piece of rest) {
		const found = text.indexOf(piece, at);
		if (found < 0) return false;
		at = found + piece.length;
	}
	return at <= end;
}

function piecesOf(pattern: string): string[] {
	const pieces: string[] = [];
	let piece = '';
	for (let at = 0; at < pattern.length; at++) {
		const sign = pattern[at] ?? '';
		if (sign === '*') {
			pieces.push(piece);
			piece = '';
		} else piece += sign === '\\' ? (pattern[++at] ?? '') : sign;
	}
	return [...pieces, piece];
}
