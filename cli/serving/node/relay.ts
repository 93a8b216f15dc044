// What has the relayed connections of a node of this process.

import {createNodeRelay} from '../../../agent/relay/relay.js';
import {isTooLong, makeFeedFolder} from '../../../agent/network/feed/record.js';
import type {NodeRelay} from '../../../actors/node/runtime/relay-port.js';
import type {Runtime} from '../../../actors/node/runtime/runtime-port.js';
import type {ServeContext} from '../process/serve.js';

/** Undefined: no socket can be in the home, so there is no data plane either, which says so. Throws errno exceptions. */
export function openRelay(runtime: Runtime, {home, log, processParts: {clock, random}}: ServeContext): NodeRelay | undefined {
	const {network: folder} = home;
	if (isTooLong(folder)) return undefined;
	makeFeedFolder(folder);
	return createNodeRelay({runtime, clock, random, folder, onWarning: message => log.warn(message)});
}
