// What nodes and tools may use of the broker.

import {limits} from '../../api/limits.js';
import type {ClientQuota} from './ports.js';
import type {RateBounds} from './publish-rate.js';

/** The cluster's own traffic: first in each turn, and bounded by its turns alone. */
export const nodeQuota: ClientQuota = {
	rank: 'node',
	packetBytes: limits.packetBytes,
	stallMs: limits.nodeStallMs,
	connections: Infinity,
	work: undefined,
};

const toolRate: RateBounds = {messagesPerSecond: limits.userMessagesPerSecond, bytesPerSecond: limits.userBytesPerSecond};

export const toolQuota: ClientQuota = {
	rank: 'tool',
	packetBytes: limits.brokerToolPacketBytes,
	stallMs: limits.toolStallMs,
	connections: limits.brokerConnectionsPerLogin,
	work: {perSecond: limits.brokerToolWorkPerSecond, atOnce: limits.brokerToolWorkAtOnce, debt: limits.brokerToolWorkDebt},
	rate: toolRate,
};

/** The same, with what its token says of how much it may publish. */
export const toolQuotaOf = ({messagesPerSecond, bytesPerSecond}: Partial<RateBounds> = {}): ClientQuota => ({
	...toolQuota,
	rate: {
		messagesPerSecond: messagesPerSecond ?? toolRate.messagesPerSecond,
		bytesPerSecond: bytesPerSecond ?? toolRate.bytesPerSecond,
	},
});
