import {PassThrough} from 'node:stream';
import test from 'ava';
import {limits} from '../../api/limits.js';
import {createMqttGate} from '../../server/mqtt-gate.js';
import {ManualClock} from '../../system/manual-clock.js';

test('while nobody leads no more wait to be told so than a broker would take; each has its time', t => {
	const clock = new ManualClock();
	const gate = createMqttGate(clock);
	const streams = Array.from({length: limits.brokerConnections + 1}, () => new PassThrough());
	for (const stream of streams) gate.attach(stream, 'test');
	t.is(streams.filter(({destroyed}) => destroyed).length, 1);
	t.true(streams.at(-1)?.destroyed);
	clock.advance(limits.brokerLoginMs);
	t.true(streams.every(({destroyed}) => destroyed));
});

test('a broker counts by itself: the gate hands it everything', t => {
	const gate = createMqttGate(new ManualClock());
	let attached = 0;
	gate.serve({attach: () => void (attached += 1)});
	const streams = Array.from({length: limits.brokerConnections + 1}, () => new PassThrough());
	for (const stream of streams) gate.attach(stream, 'test');
	t.is(attached, streams.length);
	gate.cut();
	t.true(streams.every(({destroyed}) => destroyed));
});
