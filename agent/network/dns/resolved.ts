// What is known of one question, whoever said so.

import type {Answer, RecordType} from 'dns-packet';

/** Response codes of RFC 1035 section 4.1.1. */
export const rcodes = {NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5} as const;

export type Rcode = keyof typeof rcodes;

export type Resolved = {
	readonly rcode: Rcode;
	readonly isAuthoritative: boolean;
	readonly answers: readonly Answer[];
	readonly authorities: readonly Answer[];
	readonly additionals: readonly Answer[];
};

/** The name in small letters. */
export type Question = {readonly name: string; readonly type: RecordType};

export const failed: Resolved = {rcode: 'SERVFAIL', isAuthoritative: false, answers: [], authorities: [], additionals: []};
