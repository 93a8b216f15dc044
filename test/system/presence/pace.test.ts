// What has to happen within a grace fits into it, whatever grace there is.

import test from 'ava';
import {limits} from '../../../api/limits.js';
import {paceOf, usualPace} from '../../../system/presence/pace.js';

test('with the usual grace, and longer ones, everything is as the limits have it', t => {
	for (const graceMs of [limits.shortGraceMs, limits.nodeGraceMs, limits.nodeGraceMostMs]) {
		const {suspectAfterMs, observerLagMs, beatMs, beatAnswerMs} = limits;
		t.deepEqual(paceOf(graceMs), {graceMs, suspectAfterMs, observerLagMs, beatMs, beatAnswerMs, beatsTwice: false});
	}
	t.deepEqual(usualPace, paceOf(limits.nodeGraceMs));
});

test('with any grace there are beats enough before a node is suspect, and readings enough before it is dead', t => {
	for (let graceMs = limits.nodeGraceLeastMs; graceMs <= 10_000; graceMs += 50) {
		const {suspectAfterMs, observerLagMs, beatMs, beatAnswerMs} = paceOf(graceMs);
		t.true(suspectAfterMs >= 3 * beatMs - 1e-6, `${graceMs}`);
		t.true(graceMs - suspectAfterMs >= limits.signsMs, `${graceMs}`);
		t.true(suspectAfterMs - beatMs >= limits.signsMs, `${graceMs}: a beat that came just after a reading counts with the next`);
		t.true(beatAnswerMs + beatMs <= suspectAfterMs + 1e-6, `${graceMs}: another connection is dialled before it is suspect`);
		t.true(observerLagMs < graceMs / 4);
	}
	t.true(paceOf(limits.nodeGraceLeastMs).beatsTwice);
});
