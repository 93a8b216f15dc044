// Values sealed with a key: AES-256-GCM. The place of a value is authenticated with it, so that sealed values cannot be swapped.

import {createCipheriv, createDecipheriv, randomBytes} from 'node:crypto';

export const nonceBytes = 12;
const tagBytes = 16;

/** The sealed value as base64url. A nonce may never be used twice with one key but for the very same value and place. */
export function sealBytes(key: Uint8Array, place: string, value: Uint8Array, nonce: Uint8Array = randomBytes(nonceBytes)): string {
	const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
	const text = Buffer.concat([cipher.update(value), cipher.final()]);
	return Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url');
}

/** The value; throws when it was sealed with another key or for another place, or was changed. */
export function openBytes(key: Uint8Array, place: string, sealed: string): Buffer {
	const bytes = Buffer.from(sealed, 'base64url');
	const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), {authTagLength: tagBytes});
	decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(bytes.length - tagBytes));
	return Buffer.concat([decipher.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decipher.final()]);
}
