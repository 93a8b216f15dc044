// `troupe uncordon`: nodes take pods again.

import type {Run} from '../command.js';
import {runCordon} from '../objects/cordon.js';

export const run: Run = invocation => runCordon('uncordon', invocation);
