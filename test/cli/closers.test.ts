// What is open is closed, whatever fails on the way.

import test from 'ava';
import {createClosers} from '../../cli/serving/process/closers.js';

test('all is closed in reverse, once, also what comes after one that fails', async t => {
	const closed: string[] = [];
	const closers = createClosers();
	const failure = new Error('the middle one');
	closers.add(() => void closed.push('first'));
	closers.add(() => Promise.reject(failure));
	closers.add(() => void closed.push('last'));
	t.is(await t.throwsAsync(closers.closeAll()), failure);
	t.deepEqual(closed, ['last', 'first']);
	await closers.closeAll();
	t.deepEqual(closed, ['last', 'first']);
});
