// What is written of changes that were asked of actors, however many and by whom.

import test from 'ava';
import {limits} from '../../api/limits.js';
import {createAudit, type AuditEntry} from '../../server/inspect/audit.js';
import {ManualClock} from '../../system/time/manual-clock.js';

function rig() {
	const clock = new ManualClock();
	const entries: AuditEntry[] = [];
	const refusals: AuditEntry[] = [];
	const audit = createAudit(clock, (entry, isRefusal) => {
		entries.push(entry);
		if (isRefusal) refusals.push(entry);
	});
	const asked = (name: string, at = 0) => ({
		identity: {name, role: 'view'} as const,
		door: 'mqtt' as const,
		request: {verb: 'kill', place: `control/pods/default.web-${at}`},
	});
	return {clock, entries, refusals, audit, asked};
}

test('of a hundred thousand refusals there are two lines a second, which count all of them', t => {
	const {clock, entries, audit, asked} = rig();
	for (let at = 0; at < 100_000; at++) {
		if (at > 0 && at % 10_000 === 0) clock.advance(limits.auditRefusalMs);
		audit.refused(asked('eve', at), 'ERR_FORBIDDEN');
	}
	clock.advance(limits.auditRefusalMs);
	t.is(entries.length, 20);
	t.is(
		entries.reduce((sum, {refusedBefore = 0}) => sum + refusedBefore + 1, 0),
		100_000,
	);
	t.is(entries.at(-1)?.place, 'control/pods/default.web-99999');
	t.is(clock.nextAtMs(), undefined, 'nothing is remembered of a login that asks no more');
});

test('each login has its own lines, and what was asked of a system has one each', t => {
	const {entries, refusals, audit, asked} = rig();
	for (const name of ['eve', 'ann']) audit.refused(asked(name), 'ERR_BUSY');
	for (let at = 0; at < 3; at++) audit.ended(asked('eve', at), 'ERR_OUTCOME_UNKNOWN');
	t.deepEqual(
		entries.map(({login, outcome}) => `${login} ${outcome}`),
		['eve ERR_BUSY', 'ann ERR_BUSY', ...Array.from({length: 3}, () => 'eve ERR_OUTCOME_UNKNOWN')],
	);
	t.deepEqual(refusals, entries.slice(0, 2));
});

test('what waits for its second to be over is written when the server ends', t => {
	const {clock, entries, audit, asked} = rig();
	for (let at = 0; at < 3; at++) audit.refused(asked('eve', at), 'ERR_FORBIDDEN');
	audit.close();
	t.deepEqual(
		entries.map(({place, refusedBefore}) => [place, refusedBefore]),
		[
			['control/pods/default.web-0', undefined],
			['control/pods/default.web-2', 1],
		],
	);
	t.is(clock.nextAtMs(), undefined);
});

test("of a stranger's texts a part is kept, and what is no text is left out", t => {
	const {entries, audit, asked} = rig();
	const {identity, door} = asked('eve');
	audit.refused(
		{identity, door, request: {verb: 'tell', place: 'x'.repeat(100_000), message: {type: 7}, fault: ['crash']}},
		'ERR_BAD_REQUEST',
	);
	for (const request of [undefined, 'kill', {verb: 'stats'}, {verb: 'rm'}, {verb: ['kill']}])
		audit.refused({identity, door, request}, 'ERR_BAD_REQUEST');
	t.is(entries.length, 1);
	t.is(entries[0]?.place?.length, limits.auditRefusedTextBytes);
	t.false('messageType' in (entries[0] ?? {}) || 'fault' in (entries[0] ?? {}));
});

test('of what is refused no text makes a line long, whatever JSON makes of it; of what was asked the place is whole', t => {
	const {clock, entries, audit, asked} = rig();
	const {identity, door} = asked('eve');
	const {auditRefusedTextBytes: most} = limits;
	for (const letter of ['\u0001', '"', '\ud800', 'é', '€', '😀']) {
		const text = letter.repeat(limits.inspectPlaceCharacters);
		audit.refused({identity, door, request: {verb: 'tell', place: text, message: {type: text}, fault: {type: text}}}, 'ERR_FORBIDDEN');
		clock.advance(limits.auditRefusalMs);
		const entry = entries.at(-1);
		t.true(text.startsWith(entry?.place ?? '-'));
		t.true((entry?.place?.length ?? 0) >= Math.floor(most / '\\u0001'.length));
		t.true(Buffer.byteLength(JSON.stringify(entry)) < 3 * most + 200, JSON.stringify(letter));
	}
	const place = `control/${'x'.repeat(500)}`;
	audit.ended({identity, door, request: {verb: 'kill', place}}, 'done');
	t.is(entries.at(-1)?.place, place);
});
