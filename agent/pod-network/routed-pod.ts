// A pod that has a network of its own, as its runtime tells of it.

import type {HostPort} from '../../actors/node/runtime/runtime-port.js';

export type RoutedPod = {readonly uid: string; readonly address: string; readonly hostPorts: readonly HostPort[]};
