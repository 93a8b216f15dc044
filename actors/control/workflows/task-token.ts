// Tokens by which somebody outside answers a task: its key, and a proof that the run gave it away.

import type {Tools} from '../../../api/states-language/tools.js';

const separator = '~';
/** Of the 64 hexadecimal digits of the hash. */
const proofDigits = 40;

const proofOf = (key: string, secret: string, {hash}: Pick<Tools, 'hash'>): string =>
	hash('SHA-256', `${secret} ${key}`).slice(0, proofDigits);

export const taskToken = (key: string, secret: string, tools: Pick<Tools, 'hash'>): string =>
	`${key}${separator}${proofOf(key, secret, tools)}`;

/** The key of a token that the run with that secret gave away; undefined for any other text. */
export function keyOfToken(token: string, secret: string, tools: Pick<Tools, 'hash'>): string | undefined {
	const key = token.slice(0, Math.max(0, token.lastIndexOf(separator)));
	return token === taskToken(key, secret, tools) ? key : undefined;
}
