// The built command: `node main` is `troupe`.

import path from 'node:path';

export const main = path.join(import.meta.dirname, '../../cli/main.js');
