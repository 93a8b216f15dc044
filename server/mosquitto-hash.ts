// How what lets a login in is kept: as Mosquitto's password files have it, so that the same record lets its owner in here and at an
// external broker.
//
// A token is 256 random bits: neither salt nor iterations protect it any better. So the salt is the same for all, a token is found by its
// hash, and that hash is quick (`$6$`, SHA-512): a client that tries wrong ones costs next to nothing. What an operator thinks up, the password of
// `control`, has the slow one (`$7$`, PBKDF2 of SHA-512); older versions kept tokens by that, too.

import {hash, pbkdf2Sync} from 'node:crypto';

/** Mosquitto's own count. */
const iterations = 101;
const hashBytes = 64;
/** 12 bytes, as Mosquitto 2.0 wants. */
const salt = Buffer.from('troupe-token');
const saltText = salt.toString('base64');
const quick = '$6$';

/** The hash of a token, in base64 behind its sort. */
export const tokenHash = (token: string): string => quick + hash('sha512', Buffer.concat([Buffer.from(token), salt]), 'base64');

/** The slow hash, in base64. */
export const passwordHash = (password: string): string => pbkdf2Sync(password, salt, iterations, hashBytes, 'sha512').toString('base64');

/** Whether a hash that is kept is the slow one. */
export const isSlow = (kept: string): boolean => !kept.startsWith(quick);

/** What follows the name in a password file, of either hash. */
export const passwordField = (kept: string): string =>
	isSlow(kept) ? `$7$${iterations}$${saltText}$${kept}` : `${quick}${saltText}$${kept.slice(quick.length)}`;
