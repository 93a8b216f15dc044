import test from 'ava';
import {Mailbox, type Envelope} from '../../../system/kernel/mailbox.js';

const envelope = (type: string, outside = false): Envelope => ({message: {type}, from: 'troupe://test/from', cause: 'test', outside});

const takeAll = (mailbox: Mailbox): string[] => {
	const taken: string[] = [];
	for (let next = mailbox.take(); next !== undefined; next = mailbox.take()) taken.push(next.message.type);
	return taken;
};

test('messages come out in the order in which they went in, through any length', t => {
	const mailbox = new Mailbox();
	const types = Array.from({length: 5_000}, (_, index) => `m${index}`);
	const taken: (string | undefined)[] = [];
	for (const [index, type] of types.entries()) {
		mailbox.put(envelope(type), undefined);
		if (index % 3 === 0) taken.push(mailbox.take()?.message.type);
	}
	t.is(mailbox.length, types.length - taken.length);
	t.deepEqual([...taken, ...takeAll(mailbox)], types);
	t.true(mailbox.isEmpty);
});

test('what coalesces keeps its place and takes the newest message; once taken, it queues anew', t => {
	const mailbox = new Mailbox();
	mailbox.put(envelope('status 1'), 'status');
	mailbox.put(envelope('other'), undefined);
	mailbox.put(envelope('status 2'), 'status');
	t.is(mailbox.length, 2);
	t.is(mailbox.take()?.message.type, 'status 2');
	mailbox.put(envelope('status 3'), 'status');
	t.deepEqual(takeAll(mailbox), ['other', 'status 3']);
});

test('only what comes from outside is counted against the bound, also where messages replace each other', t => {
	const mailbox = new Mailbox();
	mailbox.put(envelope('inside'), undefined);
	mailbox.put(envelope('outside', true), undefined);
	t.is(mailbox.outside, 1);
	mailbox.put(envelope('a', true), 'a');
	mailbox.put(envelope('a', false), 'a');
	t.is(mailbox.outside, 1);
	mailbox.put(envelope('b', false), 'b');
	mailbox.put(envelope('b', true), 'b');
	t.is(mailbox.outside, 2);
	takeAll(mailbox);
	t.is(mailbox.outside, 0);
});

test('signals wait apart from messages and keep the cell awake', t => {
	const mailbox = new Mailbox();
	mailbox.signal({type: 'stop'});
	t.false(mailbox.isEmpty);
	t.is(mailbox.length, 0);
	t.deepEqual(mailbox.takeSignal(), {type: 'stop'});
	t.is(mailbox.takeSignal(), undefined);
	t.true(mailbox.isEmpty);
});

test('draining gives what waits, oldest first, and leaves nothing', t => {
	const mailbox = new Mailbox();
	mailbox.put(envelope('a', true), undefined);
	mailbox.put(envelope('b'), 'key');
	mailbox.signal({type: 'stop'});
	t.deepEqual(
		mailbox.drain().map(({message}) => message.type),
		['a', 'b'],
	);
	t.true(mailbox.isEmpty);
	t.is(mailbox.outside, 0);
});

test('a new instance forgets signals and what was meant for the old one, and keeps the rest in order', t => {
	const mailbox = new Mailbox();
	for (const type of ['taken', 'a', 'answer', 'b']) mailbox.put(envelope(type, true), type);
	mailbox.take();
	mailbox.signal({type: 'stop'});
	mailbox.forget(({message}) => message.type === 'answer');
	t.is(mailbox.takeSignal(), undefined);
	t.is(mailbox.outside, 2);
	mailbox.put(envelope('a', true), 'a');
	t.deepEqual(takeAll(mailbox), ['a', 'b']);
});
