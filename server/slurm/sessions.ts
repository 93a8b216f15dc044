// One connection for each login at a login node, however many jobs are there; and one look at Slurm's queue for all of them.

import type {LookupFunction} from 'node:net';
import {httpHostOf} from '../../api/http-hosts.js';
import {limits} from '../../api/limits.js';
import {exponentialBackoffMs} from '../../system/kernel/restart-policy.js';
import type {Cancel, Clock} from '../../system/time/clock.js';
import {boundedLookup, SpecialAddress} from '../workflows/called-address.js';
import {createTurns, unlessAborted, type Turns} from '../workflows/turns.js';
import {hostNotListed, type Access} from './access.js';
import {createFollower, type Follower} from './follower.js';
import {Held, Refused} from './held.js';
import {connectSsh, SshError, type HostKey, type Ssh} from './ssh.js';

export type Session = {
	readonly ssh: Ssh;
	readonly follower: Follower;
	/** For what holds much on the disk or in memory: the sources of a job, and a result until it is kept. */
	readonly bulk: Turns;
};

export type Sessions = {
	/**
	 * Works over the connection of that login. Rejects with `Held` or `Refused` where there is none, or it was lost; and with what `work` does.
	 * `onFirstKey` is told of a key that nothing says anything of, before anything of the login is sent.
	 */
	readonly use: <Value>(access: Access, options: UseOptions, work: (session: Session) => Promise<Value>) => Promise<Value>;
	readonly counts: () => {readonly connections: number; readonly programs: number; readonly files: number};
	readonly close: () => void;
};

export type UseOptions = {readonly signal: AbortSignal; readonly onFirstKey: (fingerprint: string) => Promise<void>};

export type SessionsOptions = {
	readonly clock: Clock;
	/** Of the names of hosts; undefined: the machine's own. */
	readonly lookup?: LookupFunction | undefined;
};

type Entry = {
	session: Session | undefined;
	opening: Promise<Session> | undefined;
	uses: number;
	failures: number;
	/** Until then there is no other try. */
	restUntilMs: number;
	lastError: Error | undefined;
	idle: Cancel;
};

export function createSessions({clock, lookup}: SessionsOptions): Sessions {
	const entries = new Map<string, Entry>();
	const closing = new AbortController();
	let programs = 0;
	let files = 0;

	const drop = (key: string, entry: Entry): void => {
		entry.idle();
		if (entry.session !== undefined) {
			const counts = entry.session.ssh.counts();
			programs += counts.programs;
			files += counts.files;
			entry.session.follower.close();
			entry.session.ssh.close();
		}
		entry.session = undefined;
		if (entries.get(key) === entry && entry.uses === 0) entries.delete(key);
	};

	const connect = async (access: Access, entry: Entry, {onFirstKey}: UseOptions): Promise<Session> => {
		const ssh = await connectSsh({
			place: access.place,
			login: access.login,
			lookup: boundedLookup(access.hosts, access.place, lookup),
			keyTypes: access.keyTypes,
			clock,
			signal: closing.signal,
			judge: async key => {
				judgeKey(access, key);
				if (access.pins().length === 0) await onFirstKey(key.fingerprint);
			},
		});
		if (closing.signal.aborted) {
			ssh.close();
			closing.signal.throwIfAborted();
		}
		entry.failures = 0;
		return {ssh, follower: createFollower(ssh, clock), bulk: createTurns(limits.slurmTransfers)};
	};

	/** Who opens it waits; others wait with it, and try by themselves where it fails for what concerns its opener alone. */
	const opened = async (access: Access, entry: Entry, options: UseOptions): Promise<Session> => {
		for (;;) {
			options.signal.throwIfAborted();
			if (entry.session?.ssh.isOpen() === true) return entry.session;
			if (entry.session !== undefined) drop(access.sessionKey, entry);
			if (entry.opening !== undefined) {
				await unlessAborted(options.signal, () => (entry.opening ?? Promise.resolve()).then(noted, noted));
				continue;
			}
			if (entry.lastError !== undefined && clock.monotonicMs() < entry.restUntilMs) throw entry.lastError;
			entry.opening = connect(access, entry, options);
			try {
				entry.session = await entry.opening;
				entry.lastError = undefined;
				return entry.session;
			} catch (error) {
				const shown = heldBy(error, access);
				if (shown instanceof Error && error instanceof SshError) {
					entry.failures++;
					entry.lastError = shown;
					const pauseMs =
						error.why === 'Unreachable'
							? exponentialBackoffMs(entry.failures, limits.slurmPauseMs, limits.slurmPauseMostMs)
							: limits.slurmRefusedPauseMs;
					entry.restUntilMs = clock.monotonicMs() + pauseMs / 2;
				}
				throw shown;
			} finally {
				entry.opening = undefined;
			}
		}
	};

	return {
		async use(access, options, work) {
			const key = access.sessionKey;
			const entry = entries.get(key) ?? newEntry();
			entries.set(key, entry);
			entry.idle();
			entry.uses++;
			try {
				const session = await opened(access, entry, options);
				// Who came after the first has not judged the key yet.
				judgeKey(access, session.ssh.hostKey);
				if (access.pins().length === 0) await options.onFirstKey(session.ssh.hostKey.fingerprint);
				return await unlessAborted(options.signal, () => work(session));
			} catch (error) {
				throw heldBy(error, access);
			} finally {
				entry.uses--;
				if (entry.uses === 0) entry.idle = clock.after(limits.slurmIdleMs, () => drop(key, entry));
			}
		},
		counts() {
			const open = [...entries.values()].flatMap(({session}) => session?.ssh ?? []);
			return {
				connections: open.length,
				programs: open.reduce((sum, ssh) => sum + ssh.counts().programs, programs),
				files: open.reduce((sum, ssh) => sum + ssh.counts().files, files),
			};
		},
		close() {
			closing.abort(new Error('this server does not lead any more'));
			for (const [key, entry] of [...entries]) drop(key, entry);
			entries.clear();
		},
	};
}

const newEntry = (): Entry => ({
	session: undefined,
	opening: undefined,
	uses: 0,
	failures: 0,
	restUntilMs: 0,
	lastError: undefined,
	idle: () => undefined,
});

const noted = (): void => undefined;

function judgeKey({pins: pinsOf, host}: Access, {fingerprint, type}: HostKey): void {
	const pins = pinsOf();
	if (pins.length === 0 || pins.includes(fingerprint)) return;
	throw new Refused(
		'HostKeyMismatch',
		`${host} has shown the key ${fingerprint} (${type}), and ${pins.join(' or ')} is expected: either the key of the host was changed, or ` +
			'somebody else answers there. Nothing was sent. If the new key is right, set spec.hostKey to it',
	);
}

/** In the words of a job. */
function heldBy(error: unknown, {place}: Access): unknown {
	if (error instanceof SpecialAddress)
		return new Held(
			'HostNotListed',
			`${httpHostOf(place)} leads to this machine, its link or its cloud: ${hostNotListed(httpHostOf(error.place))}`,
		);
	if (!(error instanceof SshError)) return error;
	return error.why === 'Unreachable' ? new Held('Unreachable', error.message) : new Refused(error.why, error.message);
}
