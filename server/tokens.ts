// Who may come in: named tokens with a role. A token is shown once, when it is made; what is kept is its hash, in the vault.
//
// A token is 256 random bits, so a plain SHA-256 of it cannot be turned back by guessing, and needs no salt against tables.

import {createHash, randomBytes, timingSafeEqual} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {AppError} from '../api/errors.js';
import {controlSystem} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {Identity, Role} from '../api/roles.js';
import {isDnsLabel} from '../api/rules/names.js';
import {writeFileAtomic} from '../system/atomic-file.js';
import type {Vault} from './vault.js';

export type TokenInfo = {readonly name: string; readonly role: Role; readonly createdAtMs: number};

export type Tokens = {
	/** Makes a token, in place of the one of that name if there is one, and returns its text: the only time it is seen. */
	readonly issue: (name: string, role: Role) => Promise<string>;
	/** Whether there was one. */
	readonly revoke: (name: string) => Promise<boolean>;
	readonly list: () => readonly TokenInfo[];
	/** Who a token belongs to. Takes as long for a wrong one as for a right one. */
	readonly authenticate: (token: string | undefined) => Identity | undefined;
};

type Stored = TokenInfo & {readonly hash: string};

/** So that a token is recognised where it should not be: in logs, in repositories. */
const prefix = 'troupe-';
const vaultName = 'tokens';

/** The tokens that the vault holds. */
export function openTokens(vault: Vault, nowMs: () => number): Tokens {
	let tokens = JSON.parse(vault.get(vaultName) ?? '[]') as readonly Stored[];
	let last: Promise<void> = Promise.resolve();

	/** One write after the other; what is not kept is not in force either. */
	function keep(change: (tokens: readonly Stored[]) => readonly Stored[]): Promise<void> {
		const written = last.then(async () => {
			const changed = change(tokens);
			await vault.put(vaultName, JSON.stringify(changed));
			tokens = changed;
		});
		last = written.catch(() => undefined);
		return written;
	}

	return {
		async issue(name, role) {
			checkName(name);
			const token = prefix + randomBytes(32).toString('base64url');
			const stored: Stored = {name, role, createdAtMs: nowMs(), hash: hashOf(token).toString('hex')};
			await keep(all => checkCount([...all.filter(each => each.name !== name), stored]));
			return token;
		},
		async revoke(name) {
			let found = false;
			await keep(all => {
				found = all.some(each => each.name === name);
				return all.filter(each => each.name !== name);
			});
			return found;
		},
		list: () => tokens.map(({name, role, createdAtMs}) => ({name, role, createdAtMs})),
		authenticate: token => (token === undefined ? undefined : identityOf(find(tokens, hashOf(token)))),
	};
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Every hash is compared, each in constant time. */
function find(tokens: readonly Stored[], hash: Buffer): Stored | undefined {
	let found: Stored | undefined;
	for (const each of tokens) if (timingSafeEqual(Buffer.from(each.hash, 'hex'), hash)) found = each;
	return found;
}

function identityOf(stored: Stored | undefined): Identity | undefined {
	if (stored === undefined) return undefined;
	const {name, role} = stored;
	return role === 'node' ? {name, role, node: name} : {name, role};
}

function checkName(name: string): void {
	if (name === controlSystem || !isDnsLabel(name))
		throw new AppError('ERR_USAGE', {
			message: `a token's name must be 1 to 63 of a-z, 0-9 and -, and not "${controlSystem}"; got ${JSON.stringify(name.slice(0, 70))}`,
		});
}

function checkCount(tokens: readonly Stored[]): readonly Stored[] {
	if (tokens.length > limits.tokens)
		throw new AppError('ERR_USAGE', {message: `there are ${limits.tokens} tokens already; revoke one that is not used`});
	return tokens;
}

export type AdminToken = {
	readonly token: string;
	/** Why it was made now; undefined when the file's token is still good. */
	readonly made: 'first start' | 'the file was lost' | undefined;
};

/** The token of `admin` in its file (0600): the one that is there, or a new one where there is none that is known. */
export async function ensureAdminToken(tokens: Tokens, file: string): Promise<AdminToken> {
	const isFirst = !tokens.list().some(({name}) => name === 'admin');
	const kept = (await readIfThere(file))?.trim();
	if (kept !== undefined && tokens.authenticate(kept)?.name === 'admin') return {token: kept, made: undefined};
	const token = await tokens.issue('admin', 'admin');
	await writeFileAtomic(file, `${token}\n`, 0o600);
	return {token, made: isFirst ? 'first start' : 'the file was lost'};
}

async function readIfThere(file: string): Promise<string | undefined> {
	try {
		return await readFile(file, 'utf8');
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
		throw error;
	}
}
