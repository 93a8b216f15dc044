// Following logs: what comes next as the pod changes, and where each byte goes.

import test from 'ava';
import type {ContainerStatus, Pod} from '../../api/kinds/pod.js';
import {nextStep} from '../../cli/logs/container.js';
import {lineSink, plainSink, type Sink} from '../../cli/logs/sink.js';
import {openCluster} from './_rig.js';

const podOf = (phase: string, more: object = {}): Pod =>
	({metadata: {name: 'web', uid: 'u'}, spec: {nodeName: 'n'}, status: {phase}, ...more}) as Pod;
const statusOf = (state: NonNullable<ContainerStatus['state']>, restartCount = 0, exitCode?: number): ContainerStatus => ({
	name: 'main',
	state,
	...(exitCode === undefined ? {} : {lastState: {terminated: {exitCode}}}),
	restartCount,
	ready: false,
	image: '',
	imageID: '',
});

const nowhere = {type: 'nowhere'} as const;
const after = {type: 'after', attempt: 2} as const;

test('a container that has not run is waited for, with its reason; one that has is read', t => {
	t.deepEqual(nextStep(nowhere, podOf('Pending', {spec: {}}), undefined), {type: 'wait', note: 'the pod has no node yet'});
	t.deepEqual(nextStep(nowhere, podOf('Pending'), undefined), {type: 'wait', note: 'ContainerCreating'});
	t.deepEqual(nextStep(nowhere, podOf('Pending'), statusOf({waiting: {reason: 'NoCommand', message: 'which?'}})), {
		type: 'wait',
		note: 'NoCommand: which?',
	});
	t.deepEqual(nextStep(nowhere, podOf('Running'), statusOf({running: {}})), {type: 'look'});
	t.deepEqual(nextStep(nowhere, podOf('Running'), statusOf({waiting: {reason: 'CrashLoopBackOff'}}, 3, 1)), {type: 'look'});
	t.deepEqual(nextStep(nowhere, podOf('Failed'), undefined), {type: 'end'});
	t.deepEqual(nextStep(nowhere, undefined, undefined), {type: 'end'});
});

test('at the end of an attempt the next one is waited for, or there is none', t => {
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({running: {}}, 2)), {type: 'lag'}, 'the news is under way');
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({waiting: {}}, 2, 137)), {type: 'wait', note: ''});
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({running: {}}, 3, 137)), {type: 'restart', attempt: 3, why: 'exit 137'});
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({running: {}}, 5, -1)), {
		type: 'restart',
		attempt: 3,
		why: 'its exit code is not known',
	});
	t.deepEqual(nextStep(after, podOf('Running'), statusOf({terminated: {exitCode: 0}}, 2)), {type: 'end'});
	t.deepEqual(nextStep(after, podOf('Succeeded'), undefined), {type: 'end'});
	t.deepEqual(nextStep(after, undefined, undefined), {type: 'end'});
	t.deepEqual(nextStep({type: 'within', attempt: 2}, undefined, undefined), {type: 'look'}, 'what is left is read, if it is there');
});

function collect(make: (pour: (bytes: Uint8Array) => Promise<void>) => Sink): {readonly sink: Sink; readonly shown: () => string} {
	let shown = '';
	const sink = make(bytes => {
		shown += Buffer.from(bytes).toString();
		return Promise.resolve();
	});
	return {sink, shown: () => shown};
}

test('plain output is what came, and counts every byte', async t => {
	const {sink, shown} = collect(plainSink);
	sink.begin(10);
	await sink.take(Buffer.from('no end'));
	await sink.end();
	t.deepEqual([shown(), sink.offset()], ['no end', 16]);
});

test('lines come whole and with their prefix; what was not shown is asked for again', async t => {
	const {sink, shown} = collect(pour => lineSink(pour, '[a] ', false));
	sink.begin(100);
	for (const piece of ['on', 'e\ntw', 'o\nthr']) await sink.take(Buffer.from(piece));
	t.deepEqual([shown(), sink.offset()], ['[a] one\n[a] two\n', 108]);
	sink.begin(108);
	await sink.take(Buffer.from('three'));
	await sink.end();
	t.deepEqual([shown(), sink.offset()], ['[a] one\n[a] two\n[a] three\n', 113]);
});

test('times that the node put in front are shown and not counted', async t => {
	const {sink, shown} = collect(pour => lineSink(pour, '', true));
	sink.begin(0);
	const text = '2026-01-01T00:00:00.000Z one\n2026-01-01T00:00:00.000Z 2025-01-01T00:00:00.000Z own time\n';
	await sink.take(Buffer.from(text));
	t.deepEqual([shown(), sink.offset()], [text, 'one\n2025-01-01T00:00:00.000Z own time\n'.length]);
});

test('a line without end is shown in parts instead of kept for ever', async t => {
	const {sink, shown} = collect(pour => lineSink(pour, '', false));
	sink.begin(0);
	const piece = Buffer.alloc(600_000, 'x');
	await sink.take(piece);
	t.is(shown(), '');
	await sink.take(piece);
	t.is(shown().length, 1_200_001);
	t.is(sink.offset(), 1_200_000);
});

test('flags that contradict each other, and times that are none, are refused with what would be right', async t => {
	const {cluster, troupe} = await openCluster(t);
	cluster.pod('web');
	for (const [args, message] of [
		[['web', '-c', 'a', '--all-containers'], /either -c or --all-containers/],
		[['web', '-f', '--previous'], /either -f or --previous/],
		[['web', '-l', 'a=b'], /either pods by name or -l/],
		[['web', '--since', 'soon'], /--since must be a time such as 5m, 90s or 2h, got "soon"/],
		[['web', '--since', '5m', '--since-time', '2026-01-01T00:00:00Z'], /either --since or --since-time/],
		[['node/vm'], /logs are those of pods/],
	] as const) {
		const {code, err} = await troupe(['logs', ...args]);
		t.deepEqual([code, message.test(err)], [2, true], err);
	}
});
