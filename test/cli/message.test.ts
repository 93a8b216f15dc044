// Messages as people write them: in the inspector, and where they run actors of their own.

import test from 'ava';
import {parseMessage} from '../../cli/command-line/message.js';

test('a bare word is a message of that type; what is none is told by where it stood', t => {
	t.deepEqual(parseMessage('go', '--tell'), {type: 'go'});
	t.deepEqual(parseMessage('{"type": "add", "amount": 2}', '--tell'), {type: 'add', amount: 2});
	t.throws(() => parseMessage('{go', 'a line of the input'), {message: /^a line of the input is no JSON: /});
	for (const text of ['[]', '{"amount": 2}', '"go"'])
		t.throws(() => parseMessage(text, '--tell'), {
			message: /^--tell must be an object with a type, such as \{"type": "wake"\}, or the type alone; got /,
		});
});
