// `troupe cordon`: nodes take no new pods; those they have run on.

import type {Run} from '../command.js';
import {runCordon} from '../objects/cordon.js';

export const run: Run = invocation => runCordon('cordon', invocation);
