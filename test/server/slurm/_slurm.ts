// SlurmJobs as the index would hold them.

import type {SlurmJob, SlurmJobSpec, SlurmJobStatus} from '../../../api/kinds/slurmjob.js';

export const aSlurmJob = (spec: Partial<SlurmJobSpec> = {}, status: SlurmJobStatus = {phase: 'Pending'}): SlurmJob => ({
	apiVersion: 'troupe.dev/v1',
	kind: 'SlurmJob',
	metadata: {
		name: 'matrix',
		namespace: 'default',
		uid: 'uid-of-matrix',
		resourceVersion: '1',
		generation: 1,
		creationTimestamp: '2030-01-01T00:00:00Z',
	},
	spec: {runCommands: ['./a'], nTasks: 1, ...spec},
	status,
});
