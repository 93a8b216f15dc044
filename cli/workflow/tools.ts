// Chance and hashes for workflows that are tried: the same in each run of a case.

import {createHash} from 'node:crypto';
import type {HashAlgorithm, Tools} from '../../api/states-language/tools.js';
import {seededRandom} from '../../system/time/random.js';

const names: {readonly [Algorithm in HashAlgorithm]: string} = {
	MD5: 'md5',
	'SHA-1': 'sha1',
	'SHA-256': 'sha256',
	'SHA-384': 'sha384',
	'SHA-512': 'sha512',
};

export function tools(): Tools {
	const random = seededRandom(1);
	return {
		random: random.next,
		uuid: random.uuid,
		seeded: seed => seededRandom(seed).next(),
		hash: (algorithm, text) => createHash(names[algorithm]).update(text).digest('hex'),
	};
}
