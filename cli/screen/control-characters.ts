// Text of others on a terminal: what would command it, or turn its letters round, is shown instead of obeyed.

/** C0 but tab and line end, DEL, C1, and what turns the direction of text round. */
const commanding = /\r(?!\n)|(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** The colours that this program itself uses (picocolors'). */
const escape = '\u001b';
const ownColour = new RegExp(`(${escape}\\[(?:0|1|2|22|39|3[1-6])m)`);

/** `^[` for an escape, as terminals echo it; `<9b>` for what has no such form. */
const shown = (character: string): string => {
	const code = character.charCodeAt(0);
	return code < 0x80 ? `^${String.fromCharCode(code ^ 0x40)}` : `<${code.toString(16)}>`;
};

/** With every control character shown; lines and tabs stay. */
export const withControlsShown = (text: string): string => text.replace(commanding, shown);

/** The same, with our own colours left as they are. */
export const withForeignControlsShown = (text: string): string =>
	text
		.split(ownColour)
		.map((part, at) => (at % 2 === 1 ? part : withControlsShown(part)))
		.join('');

export type BytesShown = {
	readonly next: (bytes: Uint8Array) => Uint8Array;
	/** What the last bytes left open. */
	readonly end: () => Uint8Array;
};

/** The same for a stream of bytes, wherever it is cut. */
export function bytesWithControlsShown(): BytesShown {
	const decoder = new TextDecoder();
	/** A carriage return, of which the next character says whether it ends a line. */
	let held = '';
	const shownOf = (more: string, isLast: boolean): Uint8Array => {
		const text = held + more;
		held = !isLast && text.endsWith('\r') ? '\r' : '';
		return Buffer.from(withControlsShown(text.slice(0, text.length - held.length)));
	};
	return {
		next: bytes => shownOf(decoder.decode(bytes, {stream: true}), false),
		end: () => shownOf(decoder.decode(), true),
	};
}
