import {PassThrough} from 'node:stream';
import {once} from 'node:events';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {createMqttGate} from '../../server/mqtt-gate.js';
import {ManualClock} from '../../system/time/manual-clock.js';

test('while nobody leads no more wait to be told so than a broker would take', t => {
	const gate = createMqttGate(new ManualClock());
	const streams = Array.from({length: limits.brokerConnections + 1}, () => new PassThrough());
	for (const stream of streams) gate.attach(stream, 'test');
	t.is(streams.filter(({destroyed}) => destroyed).length, 1);
	t.true(streams.at(-1)?.destroyed);
});

test('a broker counts by itself: the gate hands it everything', t => {
	const clock = new ManualClock();
	const gate = createMqttGate(clock);
	let attached = 0;
	gate.serve({attach: () => void (attached += 1)});
	const streams = Array.from({length: limits.brokerConnections + 1}, () => new PassThrough());
	for (const stream of streams) gate.attach(stream, 'test');
	t.is(attached, streams.length);
	gate.cut();
	t.true(streams.every(({writableEnded}) => writableEnded));
	clock.advance(limits.httpCloseMs);
	t.true(streams.every(({destroyed}) => destroyed));
});

test('until it is known who leads, connections wait: for the broker, or for the word that it is elsewhere', async t => {
	const clock = new ManualClock();
	const gate = createMqttGate(clock);
	gate.hold();
	const [first, gone, connect] = [new PassThrough(), new PassThrough(), Buffer.from([0x10, 0])];
	for (const stream of [first, gone]) gate.attach(stream, 'early');
	first.write(connect);
	gone.destroy();
	t.false(first.writableEnded);
	const attached: unknown[] = [];
	const onLogin = (): void => undefined;
	gate.serve({attach: (...words) => void attached.push(words)});
	t.deepEqual(attached, [[first, 'early', undefined]]);
	gate.hold();
	const [late, heard] = [new PassThrough(), [] as number[]];
	gate.attach(late, 'late', onLogin);
	t.is(attached.length, 1);
	gate.serve(undefined);
	late.on('data', (bytes: Buffer) => heard.push(...bytes));
	late.write(connect);
	await once(late, 'close');
	t.deepEqual(heard, [...connect, 0x20, 2, 0, 3]);
	gate.cut();
	clock.advance(limits.httpCloseMs);
	t.true(first.destroyed);
});
