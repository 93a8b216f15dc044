// What every node that serves traffic knows of, whatever its pods name: both ends of node sync go by it.

import {parseObjectKey, type ObjectKey} from '../api/keys.js';

export const services = 'services';
export const endpointSlices = 'endpointslices';

/** All of which such a node keeps copies. */
export const networkPlurals: readonly string[] = [services, endpointSlices, 'dnses', 'ingresses', 'nodes'];

/** Whether such a node has a copy of what has this key. */
export const isNetworkKey = (key: ObjectKey): boolean => networkPlurals.includes(parseObjectKey(key).plural);
