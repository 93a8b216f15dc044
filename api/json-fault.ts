// Where a JSON text stops being JSON. The engine's own message shows a piece of the text, which may hold a secret, and often
// no position; this one shows only the place.

export type Fault = {readonly line: number; readonly column: number; readonly found: string};

/** The first place where the text is no JSON (RFC 8259); undefined when it is. Runs only after `JSON.parse` refused it. */
export function jsonFault(text: string): Fault | undefined {
	const at = faultOffset(text);
	if (at === undefined) return undefined;
	const before = text.slice(0, at);
	const line = before.split('\n').length;
	return {line, column: at - before.lastIndexOf('\n'), found: foundAt(text, at)};
}

const foundAt = (text: string, at: number): string => {
	const code = text.charCodeAt(at);
	if (at >= text.length) return 'the end';
	return code > 0x20 && code < 0x7f && !/[A-Za-z0-9]/.test(text.charAt(at)) ? `"${text.charAt(at)}"` : 'something else';
};

/** What may come next: a value, a key, or what follows a value. `first` allows the closing bracket at once. */
type Expected = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'afterValue';

/** A loop with a stack of its own: nesting cannot exhaust the engine's. */
function faultOffset(text: string): number | undefined {
	const open: ('{' | '[')[] = [];
	let expected: Expected = 'value';
	let at = skipSpace(text, 0);
	while (at < text.length || open.length > 0 || expected !== 'afterValue') {
		const character = text.charAt(at);
		const inside = open.at(-1);
		if (expected === 'afterValue' && character === ',' && inside !== undefined) {
			expected = inside === '{' ? 'key' : 'value';
			at++;
		} else if (closes(character, inside) && (expected === 'afterValue' || expected === 'firstKey' || expected === 'firstValue')) {
			open.pop();
			expected = 'afterValue';
			at++;
		} else if (expected === 'colon' && character === ':') {
			expected = 'value';
			at++;
		} else if ((expected === 'key' || expected === 'firstKey') && character === '"') {
			const end = endOfString(text, at);
			if (end.fault) return end.at;
			expected = 'colon';
			at = end.at;
		} else if ((expected === 'value' || expected === 'firstValue') && (character === '{' || character === '[')) {
			open.push(character);
			expected = character === '{' ? 'firstKey' : 'firstValue';
			at++;
		} else if (expected === 'value' || expected === 'firstValue') {
			const end = endOfScalar(text, at);
			if (end.fault) return end.at;
			expected = 'afterValue';
			at = end.at;
		} else {
			return at;
		}
		at = skipSpace(text, at);
	}
	return undefined;
}

const closes = (character: string, inside: '{' | '[' | undefined): boolean =>
	(character === '}' && inside === '{') || (character === ']' && inside === '[');

function skipSpace(text: string, from: number): number {
	let at = from;
	while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
	return at;
}

type End = {readonly at: number; readonly fault: boolean};

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

function endOfScalar(text: string, at: number): End {
	if (text.charAt(at) === '"') return endOfString(text, at);
	scalar.lastIndex = at;
	return scalar.test(text) ? {at: scalar.lastIndex, fault: false} : {at, fault: true};
}

const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function endOfString(text: string, from: number): End {
	let at = from + 1;
	while (at < text.length) {
		const code = text.charCodeAt(at);
		if (code === 0x22) return {at: at + 1, fault: false};
		if (code < 0x20) return {at, fault: true};
		if (code === 0x5c) {
			escape.lastIndex = at;
			if (!escape.test(text)) return {at, fault: true};
			at = escape.lastIndex;
		} else {
			at++;
		}
	}
	return {at, fault: true};
}
