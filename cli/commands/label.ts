// `troupe label`: labels are set and removed.

import type {Invocation} from '../command.js';
import {mark} from '../label/marks.js';

export const run = (invocation: Invocation): Promise<number> =>
	mark(invocation, {command: 'label', field: 'labels', words: ['labeled', 'unlabeled', 'not labeled']});
