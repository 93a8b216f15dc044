import test from 'ava';
import {createLogMessages} from '../../../agent/docker/logs/log-messages.js';
import {frame} from './_log-engine.js';

const first = '2026-11-23T12:00:46.844428769Z';
const second = '2026-11-23T12:00:47.000000001Z';
const long = 'x'.repeat(16_384);

type Read = {readonly stream: string; readonly stamp: string; text: string; isWhole: boolean};

function read(tty: boolean, bytes: Buffer, size: number): readonly Read[] {
	const all: Read[] = [];
	const messages = createLogMessages(tty, ({stream, stamp, data, isFirst, isLast}) => {
		if (isFirst) all.push({stream, stamp, text: '', isWhole: false});
		const last = all.at(-1);
		if (last === undefined) return;
		last.text += data.toString('latin1');
		last.isWhole = isLast;
	});
	for (let at = 0; at < bytes.length; at += size) messages.feed(bytes.subarray(at, at + size));
	messages.end();
	return all;
}

const whole = (stream: string, stamp: string, text: string): Read => ({stream, stamp, text, isWhole: true});

test('each message of a log comes with its time, wherever its bytes are cut', t => {
	const bytes = Buffer.concat([
		frame('stdout', `${first} a\n`),
		frame('stderr', `${first} \n`),
		frame('stdout', `${second} ${first} in text\n`),
		frame('stdout', `${second} no end`),
	]);
	const wanted = [
		whole('stdout', first, 'a\n'),
		whole('stderr', first, '\n'),
		whole('stdout', second, `${first} in text\n`),
		whole('stdout', second, 'no end'),
	];
	for (let size = 1; size <= bytes.length; size++) t.deepEqual(read(false, bytes, size), wanted);
});

test('of a terminal a line of text is a message, and so are 16 KiB of a longer one', t => {
	const bytes = Buffer.from(
		[`${first} a\r\n`, `${first} \r\n`, `${first} ${long}`, `${first} ${long}`, `${first} y\r\n`, `${second} $ `].join(''),
	);
	const wanted = [
		whole('stdout', first, 'a\r\n'),
		whole('stdout', first, '\r\n'),
		whole('stdout', first, long),
		whole('stdout', first, long),
		whole('stdout', first, 'y\r\n'),
		{...whole('stdout', second, '$ '), isWhole: false},
	];
	for (const size of [1, 7, 30, 31, 32, 16_383, 16_384, 16_415, 65_536]) t.deepEqual(read(true, bytes, size), wanted);
});

test('a time in the text of a terminal is text', t => {
	for (const text of [`${second} mine\n`, `${first} mine\n`, `abc ${first} mine\n`, `${long}${second} b\n`, `${long}2026-11-23T`]) {
		const bytes = Buffer.from(`${first} ${text}`);
		for (const size of [1, 31, 65_536]) {
			t.is(
				read(true, bytes, size)
					.map(message => message.text)
					.join(''),
				text,
			);
		}
	}
});

test('times of other Engines are the same times', t => {
	const stampOf = (stamp: string): string | undefined => read(false, frame('stdout', `${stamp} x\n`), 64)[0]?.stamp;
	t.is(stampOf('2026-11-23T13:00:46.84+01:00'), '2026-11-23T12:00:46.840000000Z');
	t.is(stampOf('2026-11-23T12:00:46Z'), '2026-11-23T12:00:46.000000000Z');
});

test('a log without times is refused', t => {
	for (const text of ['hello\n', 'hello world\n', `${'y'.repeat(100)}`, '2026-99-23T12:00:46Z x\n']) {
		t.throws(() => read(false, frame('stdout', text), 1_000), {message: /no time/});
		t.throws(() => read(true, Buffer.from(`${text} ${'y'.repeat(50)}`), 1_000), {message: /no time/});
	}
});
