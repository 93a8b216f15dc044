// What nodes and tools may use of the broker.

import {limits} from '../../api/limits.js';
import type {ClientQuota} from './ports.js';

/** The cluster's own traffic: first in each turn, and bounded by its turns alone. */
export const nodeQuota: ClientQuota = {
	rank: 'node',
	packetBytes: limits.packetBytes,
	stallMs: limits.nodeStallMs,
	connections: Infinity,
	work: undefined,
};

export const toolQuota: ClientQuota = {
	rank: 'tool',
	packetBytes: limits.brokerToolPacketBytes,
	stallMs: limits.toolStallMs,
	connections: limits.brokerConnectionsPerLogin,
	work: {perSecond: limits.brokerToolWorkPerSecond, atOnce: limits.brokerToolWorkAtOnce, debt: limits.brokerToolWorkDebt},
};
