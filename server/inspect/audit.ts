// Who changed what by the inspector: an entry for each change that was asked for, whether it was carried out or refused. Values of messages
// are not in it, only their types.

import type {ErrorCode} from '../../api/errors.js';
import {isChange, type Fault} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import type {Identity} from '../../api/roles.js';
import type {Clock} from '../../system/time/clock.js';

export type Door = 'http' | 'mqtt';

export type AuditEntry = {
	/** RFC 3339, UTC. */
	readonly time: string;
	readonly login: string;
	readonly role: string;
	readonly door: Door;
	readonly verb: string;
	readonly place?: string;
	/** Of `tell` and `ask`. */
	readonly messageType?: string;
	/** Of `fault`. */
	readonly fault?: Fault['type'];
	readonly outcome: 'done' | ErrorCode;
	/** Refused ones of the same login before this one that have no entry: of those there is one a second. */
	readonly refusedBefore?: number;
};

/** Where entries are kept. It must not throw. */
export type AuditLog = (entry: AuditEntry) => void;

export type Audit = {
	/** Says how a request ended, if it was one for a change. */
	readonly record: (
		asked: {readonly identity: Identity; readonly door: Door; readonly request: unknown},
		outcome: AuditEntry['outcome'],
	) => void;
};

export function createAudit(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>, log: AuditLog): Audit {
	/** By login: when a refusal was written, and how many were not since then. */
	const refusals = new Map<string, {atMs: number; more: number}>();
	const refusedBefore = (login: string): number | undefined => {
		const nowMs = clock.monotonicMs();
		const last = refusals.get(login);
		if (last !== undefined && nowMs - last.atMs < limits.auditRefusalMs) {
			last.more += 1;
			return undefined;
		}
		if (refusals.size >= limits.tokens) refusals.clear();
		refusals.set(login, {atMs: nowMs, more: 0});
		return last?.more ?? 0;
	};
	return {
		record({identity: {name, role}, door, request}, outcome) {
			if (!isObject(request) || typeof request['verb'] !== 'string' || !isChange(request['verb'])) return;
			const before = outcome === 'done' ? 0 : refusedBefore(name);
			if (before === undefined) return;
			log({
				time: new Date(clock.nowMs()).toISOString(),
				login: name,
				role,
				door,
				verb: request['verb'],
				...textOf('place', request['place']),
				...textOf('messageType', typeOf(request['message'])),
				...textOf('fault', typeOf(request['fault'])),
				outcome,
				...(before === 0 ? {} : {refusedBefore: before}),
			});
		},
	};
}

const typeOf = (value: unknown): unknown => (isObject(value) ? value['type'] : undefined);

/** A stranger's text, in part if need be. */
const textOf = (member: string, value: unknown): Partial<AuditEntry> =>
	typeof value === 'string' ? {[member]: value.slice(0, limits.inspectPlaceCharacters)} : {};
