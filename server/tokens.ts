// Who may come in: named tokens with a role, perhaps for a time. A token is shown once, when it is made; what is kept is its hash, in the vault.
//
// A token is 256 random bits, so a hash of it cannot be turned back by guessing, and needs no salt against tables.

import {createHash, randomBytes} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {AppError} from '../api/errors.js';
import {formatJoinToken} from '../api/join-token.js';
import {controlSystem} from '../api/keys.js';
import {limits} from '../api/limits.js';
import type {Identity, Role} from '../api/roles.js';
import type {TopicRights} from '../api/topic-rights.js';
import {isDnsLabel, isDnsSubdomain} from '../api/rules/names.js';
import {writeFileAtomic} from '../system/files/atomic-file.js';
import {hasCode} from '../system/files/errno.js';
import {isSlow, passwordField, passwordHash, tokenHash} from './mosquitto-hash.js';
import type {Vault} from './vault.js';

export type TokenInfo = {
	readonly name: string;
	readonly role: Role;
	readonly createdAtMs: number;
	/** Wall time; without it the token is good until it is revoked. */
	readonly expiresAtMs?: number | undefined;
	/** What it may do with the users' own topics beyond its role. */
	readonly topics?: TopicRights | undefined;
};

export type Tokens = {
	/** Makes a token, in place of the one of that name if there is one, and returns its text: the only time it is seen. */
	readonly issue: (name: string, role: Role, options?: IssueOptions) => Promise<string>;
	/** Whether there was one. */
	readonly revoke: (name: string) => Promise<boolean>;
	/** Those that have not expired. */
	readonly list: () => readonly TokenInfo[];
	/** Whether a node of that name has a token. */
	readonly isNode: (name: string) => boolean;
	/** The same with what an external broker knows each by. */
	readonly logins: () => readonly BrokerLogin[];
	/** The login of that name, if it has a good token. */
	readonly identityOf: (name: string) => Identity | undefined;
	/** Who a token belongs to. */
	readonly authenticate: (token: string | undefined) => Identity | undefined;
};

/** What an external broker is told of a token. */
export type BrokerLogin = {
	readonly name: string;
	readonly role: Role;
	/** The second field of Mosquitto's password file. */
	readonly password: string;
	readonly topics?: TopicRights | undefined;
};

export type IssueOptions = {
	readonly ttlMs?: number | undefined;
	readonly topics?: TopicRights | undefined;
	/** Fails with `ERR_ALREADY_EXISTS` where that name has a token. */
	readonly isNew?: boolean;
	/** Makes the text of the secret: join tokens carry more. */
	readonly textOf?: (secret: string) => string;
};

type Stored = TokenInfo & {readonly hash: string};

/** So that a token is recognised where it should not be: in logs, in repositories. */
const prefix = 'troupe-';
const vaultName = 'tokens';
const asUsual = (secret: string): string => prefix + secret;
const newSecret = (): string => randomBytes(32).toString('base64url');

/** The text of a token that nobody has. */
export const newToken = (): string => asUsual(newSecret());

/** The tokens that the vault holds. `onKept` is told which there are, now and after each change. */
export function openTokens(vault: Vault, nowMs: () => number, onKept: (tokens: readonly TokenInfo[]) => void = () => undefined): Tokens {
	const {all, keep} = openList(vault, onKept);
	const findOlder = createOlderSearch(all, nowMs);
	const isGood = ({expiresAtMs}: Stored): boolean => expiresAtMs === undefined || expiresAtMs > nowMs();
	return {
		async issue(name, role, {ttlMs, topics, isNew = false, textOf = asUsual} = {}) {
			checkName(name, role);
			const token = textOf(newSecret());
			const atMs = nowMs();
			const expiry = ttlMs === undefined ? {} : {expiresAtMs: atMs + ttlMs};
			const rights = topics === undefined ? {} : {topics};
			const stored: Stored = {name, role, createdAtMs: atMs, ...expiry, ...rights, hash: tokenHash(token)};
			await keep(tokens => {
				const good = tokens.filter(isGood);
				if (isNew && good.some(each => each.name === name)) throw new AppError('ERR_ALREADY_EXISTS', {resource: 'tokens', name});
				return checkCount([...good.filter(each => each.name !== name), stored]);
			});
			return token;
		},
		async revoke(name) {
			let found = false;
			if (!all().some(each => each.name === name)) return false;
			await keep(tokens => {
				found = tokens.some(each => each.name === name);
				return tokens.filter(each => each.name !== name);
			});
			return found;
		},
		list: () => all().filter(isGood).map(withoutHash),
		isNode: name => all().some(each => each.name === name && each.role === 'node' && isGood(each)),
		logins: () =>
			all()
				.filter(isGood)
				.map(({name, role, topics, hash}) => ({name, role, topics, password: passwordField(hash)})),
		identityOf(name) {
			const stored = all().find(each => each.name === name && isGood(each));
			return stored && identityOf(stored);
		},
		authenticate(token) {
			if (token === undefined) return undefined;
			// How far a hash agrees with another tells nothing of the token.
			const hash = tokenHash(token);
			const stored = all().find(each => each.hash === hash) ?? findOlder(token, hash);
			return stored === undefined || !isGood(stored) ? undefined : identityOf(stored);
		},
	};
}

/** One write after the other; what is not kept is not in force either. */
function openList(vault: Vault, onKept: (tokens: readonly TokenInfo[]) => void) {
	let tokens = JSON.parse(vault.get(vaultName) ?? '[]') as readonly Stored[];
	onKept(tokens);
	let last: Promise<void> = Promise.resolve();
	return {
		all: () => tokens,
		keep: (change: (tokens: readonly Stored[]) => readonly Stored[]): Promise<void> => {
			const written = last.then(async () => {
				const changed = change(tokens);
				await vault.put(vaultName, JSON.stringify(changed));
				tokens = changed;
				onKept(tokens);
			});
			last = written.catch(() => undefined);
			return written;
		},
	};
}

/**
 * Finds tokens that an older version has kept, by the slow hash, which takes a tenth of a millisecond: one that is good is hashed once, of
 * others only so many a second are.
 */
function createOlderSearch(all: () => readonly Stored[], nowMs: () => number): (token: string, hash: string) => Stored | undefined {
	const known = new Map<string, string>();
	let [secondMs, hashes] = [0, 0];
	const mayHash = (): boolean => {
		const ms = nowMs();
		if (Math.abs(ms - secondMs) >= 1_000) [secondMs, hashes] = [ms, 0];
		return ++hashes <= limits.slowHashesPerSecond;
	};
	return (token, hash) => {
		const older = all().filter(each => isSlow(each.hash));
		if (older.length === 0) return undefined;
		const slow = known.get(hash) ?? (mayHash() ? passwordHash(token) : undefined);
		const stored = older.find(each => each.hash === slow);
		if (stored !== undefined) known.set(hash, stored.hash);
		return stored;
	};
}

function withoutHash({hash: _hash, ...info}: Stored): TokenInfo {
	return info;
}

function identityOf({name, role, topics, hash}: Stored): Identity {
	const credential = createHash('sha256').update(hash).digest('base64url').slice(0, credentialCharacters);
	return role === 'node' ? {name, role, node: name, credential} : {name, role, credential, ...(topics === undefined ? {} : {topics})};
}

/** Enough that no two tokens have the same. */
const credentialCharacters = 22;

/** A node may be called like a host, with dots. */
function checkName(name: string, role: Role): void {
	if (name !== controlSystem && (role === 'node' ? isDnsSubdomain(name) : isDnsLabel(name))) return;
	const words = role === 'node' ? "a node's name must be a DNS name" : "a token's name must be 1 to 63 of a-z, 0-9 and -";
	throw new AppError('ERR_USAGE', {message: `${words}, and not "${controlSystem}"; got ${JSON.stringify(name.slice(0, 70))}`});
}

function checkCount(tokens: readonly Stored[]): readonly Stored[] {
	if (tokens.length > limits.tokens)
		throw new AppError('ERR_USAGE', {message: `there are ${limits.tokens} tokens already; revoke one that is not used`});
	const topics = tokens.flatMap(each => [...(each.topics?.publish ?? []), ...(each.topics?.subscribe ?? [])]).join('');
	if (topics.length > limits.tokenTopicsInAll)
		throw new AppError('ERR_USAGE', {
			message: `the topics of all tokens together may have ${limits.tokenTopicsInAll} characters; revoke a token, or give this one fewer topics`,
		});
	return tokens;
}

export type AdminToken = {
	readonly token: string;
	/** Why it was made now; undefined when the file's token is still good. */
	readonly made: 'first start' | 'the file was lost' | undefined;
};

/** Where several servers share a store, each finds the token of `admin` in the vault, and so all have the same. */
const adminVaultName = 'admin-token';

/**
 * The token of `admin` in its file (0600): the one that is there, or a new one where there is none that is known. With `shared` the one
 * that all servers have.
 */
export async function ensureAdminToken(tokens: Tokens, file: string, shared?: Vault): Promise<AdminToken> {
	const isAdmins = (token: string | undefined): token is string => tokens.authenticate(token)?.name === 'admin';
	const isFirst = !tokens.list().some(({name}) => name === 'admin');
	const [ofFile, ofAll] = [(await readIfThere(file))?.trim(), shared?.get(adminVaultName)];
	if (isAdmins(ofFile)) {
		if (ofAll !== ofFile) await shared?.put(adminVaultName, ofFile);
		return {token: ofFile, made: undefined};
	}
	const token = isAdmins(ofAll) ? ofAll : await tokens.issue('admin', 'admin');
	if (token !== ofAll) await shared?.put(adminVaultName, token);
	await writeAdminToken(file, token);
	return {token, made: token === ofAll ? undefined : isFirst ? 'first start' : 'the file was lost'};
}

/** For a standby, which makes none: the token that all servers have, now in its own file as well. */
export async function copyAdminToken(shared: Vault, file: string): Promise<string | undefined> {
	const token = shared.get(adminVaultName);
	if (token !== undefined) await writeAdminToken(file, token);
	return token;
}

const writeAdminToken = (file: string, token: string): Promise<void> => writeFileAtomic(file, `${token}\n`, 0o600);

async function readIfThere(file: string): Promise<string | undefined> {
	try {
		return await readFile(file, 'utf8');
	} catch (error) {
		if (hasCode(error, 'ENOENT')) return undefined;
		throw new AppError('ERR_INTERNAL', {message: `${file} cannot be read: ${(error as Error).message}`}, error);
	}
}

export type NamedToken = TokenInfo & {readonly token: string};

/** A token for hosts that are to join within the time; it names the authority they may show it to. */
export async function issueJoinToken(tokens: Tokens, pin: string, ttlMs: number): Promise<NamedToken> {
	const name = `join-${randomBytes(4).toString('hex')}`;
	const token = await tokens.issue(name, 'join', {ttlMs, isNew: true, textOf: secret => formatJoinToken(secret, pin)});
	return named(tokens, name, token);
}

/** A token as it is shown once. */
export function named(tokens: Tokens, name: string, token: string): NamedToken {
	const info = tokens.list().find(each => each.name === name);
	if (info === undefined) throw new AppError('ERR_NOT_FOUND', {resource: 'tokens', name});
	return {...info, token};
}
