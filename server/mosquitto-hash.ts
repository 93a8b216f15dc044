// How a token's hash is kept: PBKDF2-SHA512 as Mosquitto's password files have it (`$7$`), so that the same record lets its owner in
// here and at an external broker.
//
// A token is 256 random bits: neither salt nor iterations protect it any better, so the salt is the same for all, and a token is found
// by its hash.

import {pbkdf2Sync} from 'node:crypto';

/** Mosquitto's own count. */
const iterations = 101;
const hashBytes = 64;
/** 12 bytes, as Mosquitto 2.0 wants. */
const salt = Buffer.from('troupe-token');

/** The hash of a token, in base64. */
export const mosquittoHash = (token: string): string => pbkdf2Sync(token, salt, iterations, hashBytes, 'sha512').toString('base64');

/** What follows the name in a password file. */
export const passwordField = (hash: string): string => `$7$${iterations}$${salt.toString('base64')}$${hash}`;
