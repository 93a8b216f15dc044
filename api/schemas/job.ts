// The schemas of what runs to its end: Job and SlurmJob.

import type {Static} from 'typebox';
import type {Condition} from '../object.js';
import type {LabelSelector} from '../selector.js';
import type {JobSpec, JobStatus} from '../shapes/job.js';
import type {SlurmJobSpec, SlurmJobStatus} from '../shapes/slurmjob.js';
import {objectWith} from './metadata.js';
import {about, count, flag, list, oneOf, optional, record, seconds, shared, someOf, text, whole, type Same} from './parts.js';
import {podTemplate} from './template.js';

const jobSpec = () =>
	record(
		{
			template: about('What its pods are made from.', podTemplate()),
			parallelism: optional(about('How many pods run at a time; 1 when left out.', count())),
			completions: optional(about('How many pods have to succeed; 1 when left out.', count())),
			completionMode: optional(about('Whether each pod has a number of its own (Indexed).', oneOf(['NonIndexed', 'Indexed']))),
			backoffLimit: optional(about('After so many failures the job has failed; 6 when left out.', count())),
			activeDeadlineSeconds: optional(about('The job is ended after so long.', seconds(1))),
			ttlSecondsAfterFinished: optional(about('It is deleted so long after its end.', seconds())),
			suspend: optional(about('Whether it waits.', flag())),
			selector: optional(about('Which pods belong to it; made by the cluster.', shared<LabelSelector>('LabelSelector'))),
			manualSelector: optional(about('Whether the selector is yours.', flag())),
		},
		{
			'x-not-yet': ['backoffLimitPerIndex', 'managedBy', 'maxFailedIndexes', 'podFailurePolicy', 'podReplacementPolicy', 'successPolicy'],
		},
	);

export const jobStatus = () =>
	record({
		active: optional(count()),
		ready: optional(count()),
		succeeded: optional(count()),
		failed: optional(count()),
		startTime: optional(text()),
		completionTime: optional(text()),
		conditions: optional(list(shared<Condition>('Condition'))),
	});

export const job = () => objectWith(about('Pods that run to their end, and how often.', jobSpec()));

const slurmJobSpec = () =>
	record({
		partition: about('The partition of the HPC system.', text()),
		nTasks: optional(about('How many tasks; 1 when left out.', whole(1, 1_000_000))),
		nTasksPerNode: optional(about('How many of them on a node.', whole(1, 1_000_000))),
		gpuNums: optional(about('How many GPUs.', whole(0, 1_000_000))),
		submitDirectory: optional(about('The folder whose files are uploaded.', text())),
		submitHost: optional(about('Where jobs are submitted.', text())),
		compileCommands: optional(about('What makes the programs, line by line.', list(text()))),
		runCommands: about('What runs, line by line.', someOf(text())),
		outputFile: optional(about('Where the output goes.', text())),
		errorFile: optional(about('Where errors go.', text())),
		username: optional(about('The login at the submit host.', text())),
		password: optional(about('Refused: it would be kept as it stands. Name a Secret by secretName.', text({'x-private': true}))),
		secretName: optional(about('A Secret with the entry password or ssh-privatekey.', text())),
	});

export const slurmJobStatus = () =>
	record({jobId: optional(text()), state: optional(text()), conditions: optional(list(shared<Condition>('Condition')))});

export const slurmJob = () => objectWith(about('What is compiled and run on an HPC system.', slurmJobSpec()));

export const jobSaysTheSame: Same<Static<ReturnType<typeof jobSpec>>, JobSpec> = true;
export const jobStatusSaysTheSame: Same<Static<ReturnType<typeof jobStatus>>, JobStatus> = true;
export const slurmJobSaysTheSame: Same<Static<ReturnType<typeof slurmJobSpec>>, SlurmJobSpec> = true;
export const slurmJobStatusSaysTheSame: Same<Static<ReturnType<typeof slurmJobStatus>>, SlurmJobStatus> = true;
