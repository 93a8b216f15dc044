// How large a value is on the wire.

import type {Json} from '../../api/object.js';

/** The bytes of its JSON. */
export const jsonBytes = (value: Json | object): number => Buffer.byteLength(JSON.stringify(value));
