// JSON that gives a key twice: readers differ in which of the two they take (RFC 8259, section 4), so it is refused. The engine
// keeps the last one and says nothing; what it kept is counted against what is written.

/** Where a text counts its lines and columns from 1. */
export type TextPlace = {readonly line: number; readonly column: number};

/** How many keys a sound JSON text writes: one for each colon outside its strings. */
export function writtenKeys(text: string): number {
	let keys = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === 0x3a) keys++;
		else if (code === 0x22) at = endOfString(text, at);
	}
	return keys;
}

/** The first key of a sound JSON text that its object has already; undefined when there is none. */
export function doubleKey(text: string): {readonly at: TextPlace; readonly first: TextPlace} | undefined {
	const open: Map<string, number>[] = [];
	for (let at = 0; at < text.length; at++) {
		const character = text.charAt(at);
		if (character === '{' || character === '[') open.push(new Map());
		else if (character === '}' || character === ']') open.pop();
		if (character !== '"') continue;
		const end = endOfString(text, at);
		const keys = open.at(-1);
		if (keys !== undefined && isKey(text, end)) {
			const key = JSON.parse(text.slice(at, end + 1)) as string;
			const first = keys.get(key);
			if (first !== undefined) return {at: placeOf(text, at), first: placeOf(text, first)};
			keys.set(key, at);
		}
		at = end;
	}
	return undefined;
}

/** The offset of the quote that ends the string which begins at `from`. */
function endOfString(text: string, from: number): number {
	let at = from + 1;
	for (; text.charCodeAt(at) !== 0x22; at++) if (text.charCodeAt(at) === 0x5c) at++;
	return at;
}

/** In sound JSON nothing but a key has a colon behind it. */
function isKey(text: string, end: number): boolean {
	let at = end + 1;
	while (' \t\n\r'.includes(text.charAt(at))) at++;
	return text.charAt(at) === ':';
}

function placeOf(text: string, offset: number): TextPlace {
	const before = text.slice(0, offset);
	return {line: before.split('\n').length, column: offset - before.lastIndexOf('\n')};
}
