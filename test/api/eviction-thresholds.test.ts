// `--eviction-hard`, in the kubelet's words.

import test from 'ava';
import {parseEvictionThresholds, usualThresholds} from '../../api/eviction-thresholds.js';

test('thresholds are amounts or parts of all there is', t => {
	t.deepEqual(parseEvictionThresholds('memory.available<100Mi, nodefs.available<7.5%,pid.available<100'), {
		'memory.available': {text: '100Mi', amount: 104_857_600},
		'nodefs.available': {text: '7.5%', percent: 7.5},
		'pid.available': {text: '100', amount: 100},
	});
	t.deepEqual(parseEvictionThresholds('none'), {});
	t.like(parseEvictionThresholds(usualThresholds), {
		'nodefs.available': {text: '1Gi', amount: 1_073_741_824},
		'pid.available': {percent: 5},
	});
});

test('what is none is said', t => {
	const wrong = [
		'',
		',',
		'memory.available',
		'memory.available<',
		'memory<1Gi',
		'memory.available<0',
		'memory.available<-1',
		'memory.available<1<2',
		'memory.available<100%',
	];
	wrong.push(
		'memory.available<0%',
		'memory.available>1Gi',
		'__proto__<1',
		'imagefs.available<10%',
		'none,memory.available<1',
		`memory.available<${'9'.repeat(400)}`,
	);
	for (const text of wrong) {
		const problem = parseEvictionThresholds(text);
		t.regex(typeof problem === 'string' ? problem : '', /^must be /, text.slice(0, 40));
	}
	t.is(parseEvictionThresholds('pid.available<1,pid.available<2'), 'names pid.available twice');
});
