// The schema of a ConfigMap.

import {objectOf} from './metadata.js';
import {about, flag, mapOf, optional, record, text} from './parts.js';

export const content = () =>
	record({
		data: optional(about('Entries that are text.', mapOf(text()))),
		binaryData: optional(about('Entries that are bytes, as base64.', mapOf(text()))),
		immutable: optional(about('Whether its entries stay as they are.', flag())),
	});

export const schema = () => objectOf(content());
