import type {IncomingMessage} from 'node:http';
import test from 'ava';
import {warningReader} from '../../cli/cluster/warnings.js';

const answerWith = (...warning: readonly string[]) => ({headersDistinct: {warning}}) as unknown as IncomingMessage;

test('each warning of the server is told once, as it was meant', t => {
	const told: string[] = [];
	const read = warningReader(text => told.push(text));
	read(answerWith('299 - "a \\"b\\" \\\\ c"', 'no warning'), false);
	read(answerWith('299 - "a \\"b\\" \\\\ c"', '299 - "d"'), false);
	t.deepEqual(told, ['a "b" \\ c', 'd']);
});

test('a dry run leaves its warnings for the write that follows', t => {
	const told: string[] = [];
	const read = warningReader(text => told.push(text));
	read(answerWith('299 - "a"'), true);
	t.deepEqual(told, []);
	read(answerWith('299 - "a"'), false);
	t.deepEqual(told, ['a']);
});
