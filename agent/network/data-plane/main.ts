// The process that serves traffic on a node: Services, names and routes. Started by the agent, or by the data plane before it; it outlives both.
// Its memory is small because it imports little: what only some clusters need is imported where it is needed.

import {beginDataPlane} from './begin.js';
import {openServers} from './servers.js';

await beginDataPlane(openServers);
