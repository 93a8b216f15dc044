// Short random names, of the letters that Kubernetes uses for generated ones.

import type {Random} from './behavior.js';

const letters = 'bcdfghjklmnpqrstvwxz2456789';

export const randomSuffix = (random: Random, length = 5): string =>
	Array.from({length}, () => letters[Math.floor(random.next() * letters.length)] ?? 'x').join('');
