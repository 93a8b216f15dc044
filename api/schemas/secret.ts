// The schema of a Secret. No message may repeat a value of it, whatever is wrong with it.

import {objectOf} from './metadata.js';
import {about, flag, mapOf, optional, record, text} from './parts.js';

const isPrivate = {'x-private': true} as const;

export const content = () =>
	record({
		type: optional(about('What the entries are for; Opaque when left out.', text())),
		data: optional(about('The entries, as base64.', mapOf(text(isPrivate), isPrivate))),
		stringData: optional(about('Entries as text, for writers; they end up in data.', mapOf(text(isPrivate), isPrivate))),
		immutable: optional(about('Whether its entries stay as they are.', flag())),
	});

export const schema = () => objectOf(content(), isPrivate);
