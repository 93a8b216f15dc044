// Whether a question can still be answered once its step is over. A behaviour answers with the reply address of the question: where neither what
// the step asks for nor what it left in its state holds that, no answer comes.

import type {Next, ReplyTo} from '../kernel/behavior.js';
import type {Cell} from '../kernel/cell.js';
import type {Kernel} from '../kernel/kernel.js';
import {seenWith} from '../kernel/probe.js';
import type {Cancel} from '../time/clock.js';
import {addProbe} from './probes.js';

/** So many values are looked at; what has more may hold it. */
const mostValues = 10_000;

/** Calls back once the actor has handled that question and cannot answer it any more, unless cancelled. */
export function whenUnanswered(kernel: Kernel, cell: Cell, question: ReplyTo, then: () => void): Cancel {
	const remove = addProbe(kernel, {
		arrives: (_cell, envelope) => envelope,
		happens: () => undefined,
		refused: () => undefined,
		begins(of, trigger) {
			if (of !== cell || !isReplyTo(trigger.message.replyTo, question)) return trigger;
			const before: unknown = cell.state;
			const {seen} = trigger;
			let mayAnswer = true;
			const over = (): void => {
				if (mayAnswer) return;
				remove();
				then();
			};
			return {
				...trigger,
				seen: seenWith(seen, {
					ran(next, tookMs) {
						mayAnswer = mayHold(next, before, question);
						seen?.ran(next, tookMs);
					},
					real(wasCommitted) {
						seen?.real(wasCommitted);
						over();
					},
					notCommitted(error) {
						seen?.notCommitted(error);
						over();
					},
				}),
			};
		},
	});
	return remove;
}

const isReplyTo = (value: unknown, {to, as, id}: ReplyTo): boolean => {
	if (typeof value !== 'object' || value === null) return false;
	const other = value as Partial<ReplyTo>;
	return other.to === to && other.as === as && other.id === id;
};

/** Code of a state, such as a getter, may throw here. */
function mayHold({state, effects}: Next<unknown>, before: unknown, question: ReplyTo): boolean {
	try {
		return holds(effects, undefined, question) || holds(state, before, question);
	} catch {
		return true;
	}
}

/** What a value shares with the one before was there when the question was not. */
function holds(value: unknown, before: unknown, question: ReplyTo): boolean {
	const open: [value: unknown, before: unknown][] = [[value, before]];
	let looked = 0;
	for (let each = open.pop(); each !== undefined; each = open.pop()) {
		const [now, then] = each;
		if (now === then || (typeof now !== 'object' && typeof now !== 'function') || now === null) continue;
		if (isReplyTo(now, question) || !isData(now)) return true;
		for (const member of membersOf(now, then)) {
			if (++looked > mostValues) return true;
			open.push(member);
		}
	}
	return false;
}

const isData = (value: object): boolean =>
	Array.isArray(value) ||
	value instanceof Map ||
	value instanceof Set ||
	[Object.prototype, null].includes(Object.getPrototypeOf(value) as null);

function* membersOf(value: object, before: unknown): Iterable<[value: unknown, before: unknown]> {
	if (value instanceof Map) {
		for (const [key, member] of value) yield [member, before instanceof Map ? before.get(key) : undefined];
	} else if (value instanceof Set) {
		for (const member of value) yield [member, before instanceof Set && before.has(member) ? member : undefined];
	} else if (Array.isArray(value)) {
		for (const [at, member] of value.entries()) yield [member, Array.isArray(before) ? before[at] : undefined];
	} else {
		const former = typeof before === 'object' && before !== null ? (before as {readonly [name: string]: unknown}) : {};
		for (const [name, member] of Object.entries(value)) yield [member, Object.hasOwn(former, name) ? former[name] : undefined];
	}
}
