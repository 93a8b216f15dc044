// The static shape of a troupe.dev/v1 SlurmJob: what is compiled and run on an HPC system.

import type {ApiObject, Condition} from '../object.js';

export type SlurmJobSpec = {
	readonly partition: string;
	readonly nTasks?: number;
	readonly nTasksPerNode?: number;
	readonly gpuNums?: number;
	readonly submitDirectory?: string;
	readonly submitHost?: string;
	readonly compileCommands?: readonly string[];
	readonly runCommands: readonly string[];
	readonly outputFile?: string;
	readonly errorFile?: string;
	readonly username?: string;
	/** Refused: it would be kept as it stands. */
	readonly password?: string;
	/** A Secret in the same namespace with `password` or `ssh-privatekey`. */
	readonly secretName?: string;
};

export type SlurmJobStatus = {
	readonly jobId?: string;
	readonly state?: string;
	readonly conditions?: readonly Condition[];
};

export type SlurmJob = ApiObject<SlurmJobSpec, SlurmJobStatus>;
