// The lines of a stack that are of a user's own module: what Node and the runtime did before says nothing to its author.

import {fileURLToPath} from 'node:url';

const runtime = new URL('../../', import.meta.url).href;
const packages = new URL('../node_modules/', runtime).href;
const hidden = [runtime, packages, fileURLToPath(runtime), fileURLToPath(packages), 'node:'];

/** Those that tell a place (`at …`), in their order. */
export const ownLines = (stack: string): readonly string[] =>
	stack.split('\n').filter(line => /^\s+at /.test(line) && !hidden.some(place => line.includes(place)));
