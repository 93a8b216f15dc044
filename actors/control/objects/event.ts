// Events that records tell of themselves.

import type {EventNews} from '../../../system/kernel/behavior.js';

type EventEffect = {readonly type: 'event'} & EventNews;

/** As planned. `reason` is one word for programs, `message` a sentence for people. */
export const normal = (reason: string, message: string): EventEffect => ({type: 'event', event: 'Normal', reason, message});

/** Something is wrong, or was lost. */
export const warning = (reason: string, message: string): EventEffect => ({type: 'event', event: 'Warning', reason, message});
