// How wide a text is on a terminal. The table of wide characters is loaded only when a text has any that are not plain ASCII.

import type {WidthOf} from './table.js';

const ascii: WidthOf = text => text.length;

// eslint-disable-next-line no-control-regex -- the range of ASCII begins with control characters.
const plain = /^[\u0000-\u007f]*$/;

/** A measure that is right for these texts. */
export async function widthFor(texts: Iterable<string>): Promise<WidthOf> {
	for (const text of texts) if (!plain.test(text)) return (await import('string-width')).default;
	return ascii;
}
