import test from 'ava';
import {wholeCaller} from '../../server/functions/whole-caller.js';

const aCall = {
	id: 'a',
	by: undefined,
	path: undefined,
	contentType: 'application/json',
	headers: {},
	body: Buffer.from('1'),
	answerBytes: 10,
};

test('a call of this server whose answer nobody waits for any more is that of a client that has gone', t => {
	const ending = new AbortController();
	const {caller} = wholeCaller({...aCall, signal: ending.signal});
	const heard: string[] = [];
	caller.whenOver(isAnswered => void heard.push(`stays ${String(isAnswered)}`));
	const forget = caller.whenOver(() => void heard.push('has left'));
	forget();
	t.false(caller.isGone());
	ending.abort();
	t.true(caller.isGone());
	t.deepEqual(heard, ['stays false']);
});

test('a call of this server that says nothing of who waits is waited for', t => {
	const {caller} = wholeCaller(aCall);
	const forget = caller.whenOver(() => t.fail());
	t.false(caller.isGone());
	forget();
});
