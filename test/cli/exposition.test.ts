// Metrics as text.

import test from 'ava';
import {counter, gauge, noInstruments} from '../../api/metrics.js';
import {openExposition} from '../../cli/serving/process/exposition.js';
import {openServerInstruments} from '../../server/metrics/instruments.js';
import {systemClock} from '../../system/time/clock.js';

/** A line of the text format, as far as it is written here. */
const line =
	/^(# (HELP|TYPE) [a-z_:]\w* .*|[a-z_:]\w*(\{\w+="(\\[\\n"]|[^"\\\n])*"(,\w+="(\\[\\n"]|[^"\\\n])*")*\})? (\+?-?[\d.e+-]+|Nan|\+Inf)|)$/i;

test('metrics are told with help, type, and values of labels that may hold anything', async t => {
	const {of} = openExposition(systemClock);
	const text = await of([
		gauge('troupe_a', 'A.', [{labels: {x: 'quo"te\\ and\nline'}, value: 1.5}]),
		counter('troupe_b_total', 'B.', [{value: 0}]),
		gauge('troupe_none', 'None.', []),
	]);
	t.deepEqual(
		text.split('\n').filter(each => each !== ''),
		[
			'# HELP troupe_a A.',
			'# TYPE troupe_a gauge',
			'troupe_a{x="quo\\"te\\\\ and\\nline"} 1.5',
			'# HELP troupe_b_total B.',
			'# TYPE troupe_b_total counter',
			'troupe_b_total 0',
		],
	);
});

test('a process tells what was counted in it and what it takes, each name once, also when it is asked twice at once', async t => {
	const exposition = openExposition(systemClock);
	const instruments = openServerInstruments(exposition);
	instruments.answered({verb: 'list', resource: 'pods', status: 200, isLong: false, seconds: 0.02});
	instruments.answered({verb: 'watch', resource: 'pods', status: 200, isLong: true, seconds: 900});
	instruments.answered({verb: 'create', resource: 'pods/eviction', status: 201, isLong: false, seconds: 0.1});
	instruments.answered({verb: 'create', resource: 'pods/eviction', status: 429, isLong: false, seconds: 0.1});
	instruments.answered({verb: 'get', resource: 'pods', status: 0, isLong: false, seconds: 0.1});
	instruments.committed({outcome: 'committed', seconds: 0.004, writes: 3});
	instruments.committed({outcome: 'failed', seconds: 0.004, writes: 9});
	instruments.scheduled(0.01);
	const texts = await Promise.all([
		exposition.ofProcess([gauge('troupe_a', 'A.', [{value: 1}])]),
		exposition.ofProcess([gauge('troupe_a', 'A.', [{value: 1}])]),
	]);
	for (const text of texts) {
		for (const each of text.split('\n')) t.regex(each, line);
		const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
		t.deepEqual(types.toSorted(), [...new Set(types)].toSorted());
		t.notRegex(text, /9223372036|_lag_mean|Nan/);
	}
	const [text = ''] = texts;
	const has = (name: string, value: string): boolean => t.true(text.includes(`\n${name} ${value}\n`), name);
	has('troupe_api_requests_total{verb="watch",resource="pods",code="2xx"}', '1');
	has('troupe_api_requests_total{verb="get",resource="pods",code="none"}', '1');
	has('troupe_api_request_duration_seconds_count{verb="list",resource="pods"}', '1');
	t.false(text.includes('_count{verb="watch"'));
	has('troupe_evictions_total{reason="Api"}', '1');
	has('troupe_store_writes_total', '3');
	has('troupe_store_commit_duration_seconds_count{outcome="failed"}', '1');
	t.true(Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]) > 0);
	t.true(Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]) > 1e6);
});

test('what counts nothing takes all that is counted', t => {
	t.notThrows(() => openServerInstruments(noInstruments).brokerCounted('connections'));
});
