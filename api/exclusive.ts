// Exclusive pods: never two of one at a time, whatever becomes of hosts and networks between them.

/** `"true"` on a pod: it runs only while its node holds its lease. */
export const exclusiveAnnotation = 'troupe.dev/exclusive';

/** Set when it is bound: rises with each binding in the cluster, so a store can tell the present holder from an earlier one. */
export const leaseEpochAnnotation = 'troupe.dev/lease-epoch';

/** The fencing token as the program sees it. */
export const leaseEpochVariable = 'TROUPE_LEASE_EPOCH';

type Annotated = {readonly annotations?: {readonly [name: string]: string} | undefined};

export const isExclusive = ({annotations}: Annotated): boolean => annotations?.[exclusiveAnnotation] === 'true';
