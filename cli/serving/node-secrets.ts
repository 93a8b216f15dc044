// How a node of this process comes by Secrets: it asks the control plane, and keeps what it got sealed with a key of its own.

import type {FetchSecret, NodeSecrets} from '../../actors/node/runtime/secrets-port.js';
import {createSecretCache} from '../../agent/secret-cache.js';
import {readOrMakeKey} from '../../system/files/key-file.js';
import type {Home} from '../files/home.js';
import type {Log} from './log.js';

/** Throws where the key's file holds no key, and errno exceptions. */
export async function openNodeSecrets({nodeKey, secrets}: Home, fetch: FetchSecret, log: Log): Promise<NodeSecrets> {
	return createSecretCache({directory: secrets, key: await readOrMakeKey(nodeKey), fetch, onWarning: message => log.warn(message)});
}
