// Leases of exclusive pods: the node renews those that it holds, control says which of them it may go on holding.
//
// The node counts from the moment at which it *sent* the renewal, control from the last packet that it heard of the node. So the node's
// lease is over before control's is, by the time that the packets took, and no two clocks are ever compared.

import type {ObjectKey} from '../../api/keys.js';

export type LeasedPod = {readonly key: ObjectKey; readonly uid: string};

export type RenewLeases = {readonly type: 'renewLeases'; readonly number: number; readonly pods: readonly LeasedPod[]};

/** Of the pods of that renewal those that are this node's, and exclusive. What is not named ends with its lease. */
export type LeasesRenewed = {readonly type: 'leasesRenewed'; readonly number: number; readonly uids: readonly string[]};
