// Chance and hashes for definitions in the States Language, which have none of their own.

import {createHash} from 'node:crypto';
import type {HashAlgorithm, Tools} from '../../api/states-language/tools.js';
import {seededRandom, type Random} from './random.js';

const names: {readonly [Algorithm in HashAlgorithm]: string} = {
	MD5: 'md5',
	'SHA-1': 'sha1',
	'SHA-256': 'sha256',
	'SHA-384': 'sha384',
	'SHA-512': 'sha512',
};

export const statesTools = (random: Random): Tools => ({
	random: random.next,
	uuid: random.uuid,
	seeded: seed => seededRandom(seed).next(),
	hash: (algorithm, text) => createHash(names[algorithm]).update(text).digest('hex'),
});
