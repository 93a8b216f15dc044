// The README's actor is real, and all its commands are where the test that types them finds them.

import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {address} from '../../api/keys.js';
import {next, reply, type Behavior, type ReplyTo} from '../../system/kernel/behavior.js';
import {play} from '../../system/kernel/play.js';
import {readPage, root} from './_pages.js';

const {text} = readPage('README.md');

type CounterMessage = {readonly type: 'add'; readonly by: number} | {readonly type: 'getCount'; readonly replyTo: ReplyTo};

// README begin
const counter: Behavior<number, number, CounterMessage> = {
	kind: 'Counter',
	init: start => next(start),
	receive(count, message) {
		switch (message.type) {
			case 'add':
				return next(count + message.by);
			case 'getCount':
				return next(count, reply(message.replyTo, {ok: true, value: count}));
		}
	},
};
// README end

test('the actor of the README works as it stands there', t => {
	const replyTo: ReplyTo = {to: address('control', 'reader'), as: 'count', id: '1'};
	const {state, effects} = play(counter, 40, [
		{type: 'add', by: 2},
		{type: 'getCount', replyTo},
	]);
	t.is(state, 42);
	t.deepEqual(effects, [{type: 'reply', to: replyTo, outcome: {ok: true, value: 42}}]);
	const source = readFileSync(path.join(root, 'test/docs/readme.test.ts'), 'utf8');
	const code = /^\/\/ README begin\n([^]*?)^\/\/ README end$/m.exec(source)?.[1] ?? '';
	t.true(text.includes(`\`\`\`ts\n${code}\`\`\``));
});

test('no block of the README has commands that no test types', t => {
	const blocks = [...text.matchAll(/^```(.*)$/gm)].map(match => match[1] ?? '').filter((_info, at) => at % 2 === 0);
	t.deepEqual([...new Set(blocks)].toSorted(), ['console', 'console tools', 'ts']);
});
