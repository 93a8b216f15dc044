// What a step of a SlurmJob is done with.

import type {Clock} from '../../system/time/clock.js';
import type {ArtifactStore} from '../artifact-store.js';
import type {Session} from './sessions.js';
import type {Report} from './slurm-output.js';

export type StepParts = {
	readonly session: Session;
	readonly artifacts: Pick<ArtifactStore, 'read' | 'keep' | 'has'>;
	readonly clock: Clock;
	readonly signal: AbortSignal;
	/** What the step before has read of a job that is over: it is not asked for twice. */
	readonly kept: {report?: Report | undefined};
};
