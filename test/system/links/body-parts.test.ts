import test from 'ava';
import {limits} from '../../../api/limits.js';
import {Joiner, partsOf, type Part} from '../../../system/links/body-parts.js';

test('a body that goes in parts is the same at the other end', t => {
	const body = {text: 'ä'.repeat(1_000)};
	const joiner = new Joiner();
	const taken = partsOf(body, 500).map(part => joiner.take(part as Part));
	t.deepEqual(taken.at(-1), body);
	t.true(taken.length > 3 && taken.slice(0, -1).every(each => each === undefined));
	t.is(joiner.bytes, 0);
});

test('parts that take no bytes, are too many or of nothing are of no body, and nothing of it stays', t => {
	const joiner = new Joiner();
	const wrong: readonly Part[] = [
		{part: 0, of: 9, text: ''},
		{part: 0, of: limits.bodyParts + 1, text: 'e30='},
		{part: 0, of: 0, text: 'e30='},
		{part: 0, of: Number.NaN, text: 'e30='},
		{part: 1, of: 2, text: 'e30='},
	];
	for (const part of wrong) {
		t.is(joiner.take(part), false);
		t.is(joiner.bytes, 0);
	}
	t.is(joiner.take({part: 0, of: 2, text: 'e30='}), undefined);
	t.is(joiner.take({part: 1, of: 2, text: ''}), false);
	t.is(joiner.bytes, 0);
});
