// How far a SlurmJob is, and where it may go from there. Each move is committed before what it stands for is done.

export const slurmPhases = [
	'Pending',
	'Uploading',
	'Compiling',
	'Submitting',
	'Queued',
	'Running',
	'Fetching',
	'Succeeded',
	'Failed',
	'Cancelled',
] as const;

export type SlurmPhase = (typeof slurmPhases)[number];

/** Where each phase may go, itself aside. */
export const slurmMoves: Readonly<Record<SlurmPhase, readonly SlurmPhase[]>> = {
	Pending: ['Uploading', 'Failed'],
	Uploading: ['Compiling', 'Submitting', 'Failed'],
	Compiling: ['Submitting', 'Fetching', 'Failed'],
	Submitting: ['Queued', 'Fetching', 'Failed'],
	Queued: ['Running', 'Fetching'],
	// Slurm may take a job back into its queue.
	Running: ['Queued', 'Fetching'],
	Fetching: ['Succeeded', 'Failed', 'Cancelled'],
	Succeeded: [],
	Failed: [],
	Cancelled: [],
};

/** Nothing follows. */
export const isSlurmEnd = (phase: SlurmPhase): boolean => slurmMoves[phase].length === 0;
