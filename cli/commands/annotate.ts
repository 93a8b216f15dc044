// `troupe annotate`: annotations are set and removed.

import type {Invocation} from '../command.js';
import {mark} from '../label/marks.js';

export const run = (invocation: Invocation): Promise<number> =>
	mark(invocation, {command: 'annotate', field: 'annotations', words: ['annotated', 'annotated', 'not annotated']});
