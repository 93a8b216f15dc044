// How wide a text is on a terminal. The table of wide characters is loaded only when a text has any that are not plain ASCII.

/** Columns of the terminal that a text takes. */
export type WidthOf = (text: string) => number;

const ascii: WidthOf = text => text.length;

// eslint-disable-next-line no-control-regex -- the range of ASCII begins with control characters.
const plain = /^[\u0000-\u007f]*$/;

/** A measure that is right for these texts. */
export async function widthFor(texts: Iterable<string>): Promise<WidthOf> {
	for (const text of texts) if (!plain.test(text)) return (await import('string-width')).default;
	return ascii;
}

const graphemes = new Intl.Segmenter(undefined, {granularity: 'grapheme'});

/** No text is wider than this says: for where nothing can be loaded, and a line must not wrap. */
export const widthAtMost: WidthOf = text =>
	plain.test(text) ? text.length : [...graphemes.segment(text)].reduce((sum, {segment}) => sum + (plain.test(segment) ? 1 : 2), 0);

// eslint-disable-next-line no-control-regex -- ECMA-48's Select Graphic Rendition begins with an escape.
const colourWords = /(\u001b\[[\d;]*m)/;

/** The text as far as it fits into so many columns; its colours (SGR) take no room, and those that end are kept. */
export function cutLine(line: string, columns: number, widthOf: WidthOf = widthAtMost): string {
	let left = columns;
	return line
		.split(colourWords)
		.map(part => {
			if (colourWords.test(part)) return part;
			const fitting = cutText(part, left, widthOf);
			left = fitting.length < part.length ? 0 : left - widthOf(part);
			return fitting;
		})
		.join('');
}

/** The line as it fits on a terminal of so many columns, the last left free; undefined: as it is. */
export const fitted = (line: string, {columns, widthOf}: {readonly columns: number | undefined; readonly widthOf: WidthOf}): string =>
	columns === undefined ? line : cutLine(line, columns - 1, widthOf);

function cutText(text: string, columns: number, widthOf: WidthOf): string {
	if (widthOf(text) <= columns) return text;
	if (plain.test(text)) return text.slice(0, Math.max(0, columns));
	let cut = '';
	for (const {segment} of graphemes.segment(text)) {
		if (widthOf(cut + segment) > columns) break;
		cut += segment;
	}
	return cut;
}

/** Columns of a line with its colours left out. */
export const widthOfLine = (line: string, widthOf: WidthOf = widthAtMost): number =>
	line
		.split(colourWords)
		.filter(part => !colourWords.test(part))
		.reduce((sum, part) => sum + widthOf(part), 0);
