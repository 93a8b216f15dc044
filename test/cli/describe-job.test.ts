import test from 'ava';
import type {Job} from '../../api/kinds/job.js';
import {describeJob} from '../../cli/describe/job.js';
import {aContainer, committed} from '../api/_objects.js';

const nowMs = Date.parse('2026-01-01T00:03:20Z');

test('a job says how often it has to run, how often it did, and what came of it', t => {
	const manifest = {
		apiVersion: 'batch/v1',
		kind: 'Job',
		metadata: {name: 'parts', namespace: 'default'},
		spec: {
			completions: 200,
			parallelism: 4,
			completionMode: 'Indexed',
			activeDeadlineSeconds: 90,
			template: {spec: {containers: [aContainer()], restartPolicy: 'Never'}},
		},
	};
	const status = {
		active: 2,
		ready: 1,
		succeeded: 60,
		failed: 3,
		completedIndexes: Array.from({length: 60}, (_, at) => 2 * at).join(','),
		startTime: '2026-01-01T00:03:00Z',
		conditions: [
			{type: 'FailureTarget', status: 'True', reason: 'DeadlineExceeded', message: 'Job was active longer than specified deadline'},
		],
	};
	const page = describeJob(committed(manifest, status) as Job, nowMs, text => text.length);
	t.regex(page, /^Parallelism: +4\nCompletions: +200\nCompletion Mode: +Indexed\nSuspend: +false\nBackoff Limit: +6\n/m);
	t.regex(page, /^Active Deadline Seconds: +90s\nStart Time: +2026-01-01T00:03:00Z \(20s ago\)\n/m);
	t.regex(page, /^Pods Statuses: +2 Active \(1 Ready\) \/ 60 Succeeded \/ 3 Failed\nCompleted Indexes: +0,2,4,.*,98,\.\.\.\n/m);
	t.regex(page, /^Pod Template:\n {2}Labels: +<none>\n {2}Containers:\n {3}main:\n {4}Image: +node:20\n {4}Command: +node\n/m);
	t.regex(page, /DeadlineExceeded +Job was active longer/);
});
