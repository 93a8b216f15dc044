// Errors of a call of a function of which nothing was begun: it can be made later, as if it had never been.

import type {ErrorCode} from '../../api/errors.js';

/** No instance came, there is no code yet, too many calls wait, nobody was there to ask, or the store cannot be read just now. */
export const isNotBegun = (code: ErrorCode): boolean => codes.has(code);

const codes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
	...(['ERR_NOT_REACHABLE', 'ERR_CONFLICT', 'ERR_BUSY', 'ERR_STORE'] as const),
	...(['ERR_NO_SUCH_ACTOR', 'ERR_ACTOR_STOPPED', 'ERR_ACTOR_CRASHED'] as const),
]);
