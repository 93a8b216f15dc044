// The audit log of the inspector: an entry for each change that a login asked for, whether it was carried out or refused. Values of messages
// are not in it, only their types.

import type {ErrorCode} from '../../api/errors.js';
import {isChange, type Fault} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {isObject} from '../../api/object.js';
import type {Identity} from '../../api/roles.js';
import type {Cancel, Clock} from '../../system/time/clock.js';

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
	/** Refused ones of the same login before this one that have no entry: of those there are the first and the last of each second. */
	readonly refusedBefore?: number;
};

/**
 * Where entries are kept. It must not throw. `isRefusal`: no system was asked. Any login can have as many of those as it likes, so they never take the
 * place of an entry of a change.
 */
export type AuditLog = (entry: AuditEntry, isRefusal: boolean) => void;

export type Asked = {readonly identity: Identity; readonly door: Door; readonly request: unknown};

export type Audit = {
	/** How a request ended that a system was asked, if it was one for a change. It may have been carried out, so each has its entry. */
	readonly ended: (asked: Asked, outcome: AuditEntry['outcome']) => void;
	/** A request that no system was asked. */
	readonly refused: (asked: Asked, code: ErrorCode) => void;
	/** Writes what waits for its second to be over. */
	readonly close: () => void;
};

/** The refusals of one login in one second, after the first. */
type Refusals = {last: AuditEntry | undefined; more: number; readonly cancel: Cancel};

export function createAudit(clock: Pick<Clock, 'nowMs' | 'after'>, log: AuditLog): Audit {
	const refusals = new Map<string, Refusals>();
	const endSecond = (login: string, {last, more, cancel}: Refusals): void => {
		cancel();
		refusals.delete(login);
		if (last !== undefined) log(more === 1 ? last : {...last, refusedBefore: more - 1}, true);
	};
	const refuse = (entry: AuditEntry): void => {
		const {login} = entry;
		const second = refusals.get(login);
		if (second !== undefined) {
			second.last = entry;
			second.more += 1;
			return;
		}
		const begun: Refusals = {last: undefined, more: 0, cancel: clock.after(limits.auditRefusalMs, () => endSecond(login, begun))};
		refusals.set(login, begun);
		log(entry, true);
	};
	return {
		ended(asked, outcome) {
			const entry = entryOf(clock.nowMs(), asked, outcome, whole);
			if (entry !== undefined) log(entry, false);
		},
		refused(asked, code) {
			const entry = entryOf(clock.nowMs(), asked, code, beginning);
			if (entry !== undefined) refuse(entry);
		},
		close() {
			for (const [login, second] of [...refusals]) endSecond(login, second);
		},
	};
}

/** Undefined: it was no request for a change. */
function entryOf(
	nowMs: number,
	{identity: {name, role}, door, request}: Asked,
	outcome: AuditEntry['outcome'],
	kept: (text: string) => string,
): AuditEntry | undefined {
	if (!isObject(request) || typeof request['verb'] !== 'string' || !isChange(request['verb'])) return undefined;
	const textOf = (member: string, value: unknown): Partial<AuditEntry> => (typeof value === 'string' ? {[member]: kept(value)} : {});
	return {
		time: new Date(nowMs).toISOString(),
		login: name,
		role,
		door,
		verb: request['verb'],
		...textOf('place', request['place']),
		...textOf('messageType', typeOf(request['message'])),
		...textOf('fault', typeOf(request['fault'])),
		outcome,
	};
}

const typeOf = (value: unknown): unknown => (isObject(value) ? value['type'] : undefined);

/** Of a request that was found to be one. */
const whole = (text: string): string => text.slice(0, limits.inspectPlaceCharacters);

/** Of a stranger's text: as much as has so many bytes in the line, where JSON makes six of a control character. */
function beginning(text: string): string {
	let kept = text.slice(0, limits.auditRefusedTextBytes);
	while (Buffer.byteLength(JSON.stringify(kept)) - '""'.length > limits.auditRefusedTextBytes) kept = kept.slice(0, -1);
	return kept;
}
