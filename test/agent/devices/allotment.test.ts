// Which pod has which device: each is one pod's, also for the next agent.

import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {openAllotment} from '../../../agent/devices/allotment.js';
import {limits} from '../../../api/limits.js';

function recordOf(t: ExecutionContext): string {
	const folder = mkdtempSync(path.join(os.tmpdir(), 'troupe-gpus-'));
	t.teardown(() => rmSync(folder, {recursive: true, force: true}));
	return path.join(folder, 'gpus.json');
}

test('a device is one pod’s until that gives it back; a pod gets all that it asks for or nothing', t => {
	const allotment = openAllotment(recordOf(t));
	t.deepEqual(allotment.take('a', 2, [0, 1, 2]), [0, 1]);
	t.is(allotment.take('b', 2, [0, 1, 2]), undefined);
	t.is(allotment.of('b'), undefined);
	t.deepEqual(allotment.take('b', 1, [0, 1, 2]), [2]);
	t.deepEqual(allotment.take('a', 2, [0, 1, 2]), [0, 1], 'asked again it has the same');
	allotment.release('a');
	t.deepEqual(allotment.of('a'), []);
	t.deepEqual(allotment.take('a', 2, [0, 1, 2]), [], 'what is over takes none again');
	t.deepEqual(allotment.take('c', 2, [0, 1, 2]), [0, 1]);
	allotment.forget('b');
	t.deepEqual([...allotment.holders()].sort(), ['a', 'c']);
	t.deepEqual(allotment.take('d', 1, [0, 1, 2]), [2]);
});

test('what was given out is on disk, and the next agent gives none of it to another one', async t => {
	const file = recordOf(t);
	const first = openAllotment(file);
	first.take('a', 1, [0, 1]);
	first.take('b', 1, [0, 1]);
	first.release('b');
	await first.saved();
	t.is(statSync(file).mode & 0o777, 0o600);
	const {mtimeMs} = statSync(file);
	const next = openAllotment(file);
	await next.saved();
	t.is(statSync(file).mtimeMs, mtimeMs, 'what has not changed is not written');
	t.deepEqual([next.of('a'), next.of('b'), next.of('c')], [[0], [], undefined]);
	t.deepEqual(next.take('c', 1, [0, 1]), [1]);
	t.is(next.problem(), undefined);
});

test('changes that come while it is written are written, too', async t => {
	const file = recordOf(t);
	const allotment = openAllotment(file);
	const present = Array.from({length: 20}, (_, i) => i);
	await Promise.all(present.map(index => (allotment.take(`pod-${index}`, 1, present), allotment.saved())));
	t.is(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object).length, 20);
});

test('what cannot be written is told, and written as soon as it can be', async t => {
	const file = recordOf(t);
	const allotment = openAllotment(path.join(path.dirname(file), 'later', 'gpus.json'));
	allotment.take('a', 1, [0]);
	await t.throwsAsync(allotment.saved(), {message: /gpus\.json cannot be written/});
	mkdirSync(path.join(path.dirname(file), 'later'));
	await allotment.saved();
	t.deepEqual(openAllotment(path.join(path.dirname(file), 'later', 'gpus.json')).of('a'), [0]);
});

test('a record that is damaged says what to do, and is not taken for one of no pods', t => {
	const file = recordOf(t);
	const damaged = [
		'',
		'[]',
		'{"a":0}',
		'{"a":[-1]}',
		'{"a":["0"]}',
		'{"a":[0],"b":[0]}',
		JSON.stringify({a: [...Array(limits.nodeGpus + 1).keys()]}),
		' '.repeat(limits.gpuRecordBytes + 1),
	];
	for (const text of damaged) {
		writeFileSync(file, text);
		t.regex(
			openAllotment(file).problem() ?? '',
			/gpus\.json" does not say any more which pod has which: remove it once no pod has a GPU, and start the agent again$/,
		);
	}
	t.regex(openAllotment(path.dirname(file)).problem() ?? '', /start the agent again$/, 'it is no file');
	writeFileSync(file, '{"__proto__":[0]}');
	t.deepEqual(openAllotment(file).of('__proto__'), [0]);
});

test('however many pods are over, the next agent can read of it', async t => {
	const file = recordOf(t);
	const allotment = openAllotment(file);
	allotment.take('runs', 1, [0, 1]);
	for (let count = 0; count < 26_000; count++) {
		const uid = `00000000-0000-0000-0000-${String(count).padStart(12, '0')}`;
		allotment.take(uid, 1, [0, 1]);
		allotment.release(uid);
	}
	await allotment.saved();
	const next = openAllotment(file);
	t.is(next.problem(), undefined);
	t.deepEqual(next.of('runs'), [0]);
	t.deepEqual(next.of('00000000-0000-0000-0000-000000025999'), []);
	t.is(next.holders().length, 1 + limits.gpuSpentPods);
});
