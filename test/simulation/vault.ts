// The secret key of the virtual world: who writes a Secret seals it, as the gateway does, and who fetches one gets it opened.

import {sealsOf} from '../../server/seal.js';

const seals = sealsOf(Buffer.alloc(32, 7));
const entry = 'VALUE';

/** The data of a Secret with one value. */
export const sealedData = (namespace: string, name: string, value: string): {readonly [entry]: string} => ({
	[entry]: seals.seal({namespace, name, entry}, Buffer.from(value)),
});

/** The same as a node gets it, base64. */
export const openedData = (namespace: string, name: string, data: {readonly [key: string]: string}): {readonly [key: string]: string} =>
	Object.fromEntries(Object.entries(data).map(([key, text]) => [key, seals.open({namespace, name, entry: key}, text).toString('base64')]));
