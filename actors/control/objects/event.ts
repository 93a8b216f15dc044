// Events that records tell of themselves.

import type {Effect} from '../../../system/kernel/behavior.js';

/** As planned. `reason` is one word for programs, `message` a sentence for people. */
export const normal = (reason: string, message: string): Effect => ({type: 'event', event: 'Normal', reason, message});

/** Something is wrong, or was lost. */
export const warning = (reason: string, message: string): Effect => ({type: 'event', event: 'Warning', reason, message});
