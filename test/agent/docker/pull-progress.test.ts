import test from 'ava';
import {jsonLines} from '../../../agent/docker/images/json-lines.js';
import {createProgress} from '../../../agent/docker/images/pull-progress.js';
import {limits} from '../../../api/limits.js';

const line = (id: string, status: string, current?: number, total?: number) => ({
	id,
	status,
	progressDetail: current === undefined ? {} : {current, total},
});

test('per cent are of the bytes of all layers, those of unknown size taken for as large as the others', t => {
	const {take, now} = createProgress();
	t.deepEqual(now(), {bytes: 0, totalBytes: undefined, percent: undefined});
	take({status: 'Pulling from app/web', id: '1'});
	take(line('a', 'Pulling fs layer'));
	take(line('b', 'Pulling fs layer'));
	t.is(now().percent, undefined);
	take(line('a', 'Downloading', 50, 100));
	t.deepEqual(now(), {bytes: 50, totalBytes: 200, percent: 25});
	take(line('b', 'Downloading', 0, 900));
	// What was said before is not taken back.
	t.deepEqual(now(), {bytes: 50, totalBytes: 1_000, percent: 25});
	take(line('a', 'Download complete'));
	take(line('b', 'Downloading', 450, 900));
	t.deepEqual(now(), {bytes: 550, totalBytes: 1_000, percent: 55});
	take(line('b', 'Extracting', 1, 900));
	t.deepEqual(now(), {bytes: 1_000, totalBytes: 1_000, percent: 100});
});

test('layers that are there already are not fetched', t => {
	const {take, now} = createProgress();
	take(line('a', 'Already exists'));
	take(line('b', 'Pulling fs layer'));
	take(line('b', 'Downloading', 10, 20));
	t.deepEqual(now(), {bytes: 10, totalBytes: 20, percent: 50});
});

test('nothing that a stream says does any harm', t => {
	const {take, now} = createProgress();
	for (const odd of [null, 3, 'x', [], {}, {id: 1, status: 'Downloading'}, {id: 'a', status: 'Downloading', progressDetail: 7}]) take(odd);
	take(line('a', 'Downloading', -5, -1));
	take(line('a', 'Downloading', Number.MAX_VALUE, Number.NaN));
	take(line('a', 'Downloading', 30, 20));
	t.deepEqual(now(), {bytes: 20, totalBytes: 20, percent: 100});
	for (let i = 0; i < 2 * limits.imageLayers; i++) take(line(`layer-${i}`, 'Downloading', 1, 1));
	t.is(now().bytes, 20 + limits.imageLayers - 1);
});

async function* chunks(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	for (const piece of pieces) yield await Promise.resolve(piece);
}

test('lines are put together from pieces; one that is too long or no JSON is passed over', async t => {
	const lines: unknown[] = [];
	const long = 'x'.repeat(limits.engineLineCharacters);
	const pieces = ['{"a":', '1}\r\n\n{"b"', ':2}\n', `"${long}`, long, '"\n', 'nonsense\n', '3'].map(each => Buffer.from(each));
	for await (const each of jsonLines(chunks(pieces))) lines.push(each);
	t.deepEqual(lines, [{a: 1}, {b: 2}, undefined, 3]);
	const bytes = [...Buffer.from('"ü"\n')].map(byte => Uint8Array.of(byte));
	for await (const each of jsonLines(chunks(bytes))) t.is(each, 'ü');
});
