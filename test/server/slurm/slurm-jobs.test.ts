// Which changes SlurmJobs that wait for something look at again, and what becomes of those whose login is gone.

import test from 'ava';
import {succeeded} from '../../../api/errors.js';
import type {SlurmJob, SlurmJobStatus} from '../../../api/kinds/slurmjob.js';
import {sealsOf} from '../../../server/seal.js';
import {createSlurmJobs} from '../../../server/slurm/slurm-jobs.js';
import type {Change} from '../../../system/index/object-index.js';
import type {Message} from '../../../system/kernel/behavior.js';
import {ManualClock} from '../../../system/time/manual-clock.js';
import {aNamespace} from '../../actors/_objects.js';
import {testCluster} from '../cluster.js';
import {aSlurmJob} from './_slurm.js';

const host = '127.0.0.1:1';
const deletedAt = '2030-01-01T00:01:00Z';

/** A cluster with one job whose Secret is not there. */
function open(
	t: {readonly teardown: (clean: () => void) => void; readonly fail: (why: string) => void},
	job: SlurmJob,
	isNamespaceEnding = false,
) {
	const cluster = testCluster();
	const metadata = {name: 'cluster', uid: 'uid-of-cluster', resourceVersion: '1', generation: 1, creationTimestamp: deletedAt};
	cluster.put({apiVersion: 'troupe.dev/v1', kind: 'ClusterConfig', metadata, spec: {slurm: {hosts: [host]}}});
	if (isNamespaceEnding) cluster.put(aNamespace('default', {deletionTimestamp: deletedAt}));
	cluster.put(job);
	const asked: Message[] = [];
	const jobs = createSlurmJobs({
		control: {
			index: cluster.control.index,
			ask: <Value>(_to: string, message: Message) => (asked.push(message), Promise.resolve(succeeded(undefined as Value))),
		},
		seals: sealsOf(Buffer.alloc(32, 7)),
		artifacts: {read: () => undefined, keep: () => Promise.resolve(''), has: () => false},
		clock: new ManualClock(),
		onProblem: error => t.fail(String(error)),
	});
	t.teardown(jobs.close);
	jobs.begin();
	return {jobs, asked};
}

const changeOf = (key: string): Change => ({key, version: 9, previous: 8, before: undefined, after: undefined});
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('a SlurmJob that waits for its Secret looks again when that one changes, and not when others do', async t => {
	const {jobs, asked} = open(t, aSlurmJob({submitHost: host, secretName: 'hpc'}));
	await settled();
	t.like(asked, [{type: 'slurmNews', held: {reason: 'SecretMissing'}}]);
	for (const key of ['secrets/default/other', 'secrets/other/hpc', 'configmaps/default/hpc']) jobs.hear(changeOf(key));
	await settled();
	t.is(asked.length, 1);
	jobs.hear(changeOf('secrets/default/hpc'));
	await settled();
	t.is(asked.length, 2);
});

const deleted = (status: SlurmJobStatus): SlurmJob => {
	const job = aSlurmJob({submitHost: host, secretName: 'hpc'}, status);
	return {...job, metadata: {...job.metadata, deletionTimestamp: deletedAt, deletionGracePeriodSeconds: 120}};
};
const running = {phase: 'Running', jobId: '7', folder: '.troupe/uid-of-matrix', host} as const;

test('a SlurmJob that is deleted without its Secret waits for it, and not where its namespace is being deleted, too', async t => {
	const waits = open(t, deleted(running));
	await settled();
	t.like(waits.asked, [{type: 'slurmNews', held: {reason: 'SecretMissing'}}]);
	const goes = open(t, deleted(running), true);
	await settled();
	t.like(goes.asked, [{type: 'slurmReleased', how: 'givenUp'}]);
});

test('a SlurmJob that Slurm was never given goes without its Secret', async t => {
	const {asked} = open(t, deleted({phase: 'Compiling', folder: running.folder, host}));
	await settled();
	t.like(asked, [{type: 'slurmReleased', how: 'givenUp'}]);
});
