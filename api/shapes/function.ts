// The static shape of a troupe.dev/v1 Function.

import type {ApiObject, Condition} from '../object.js';

export const functionRuntimes = ['python', 'nodejs'] as const;

export type FunctionSpec = {
	/** A folder on the host of whoever applies it. */
	readonly userUploadFilePath: string;
	/** Without it: what the files in the folder say. */
	readonly runtime?: (typeof functionRuntimes)[number];
};

export type FunctionStatus = {readonly observedGeneration?: number; readonly conditions?: readonly Condition[]};

export type FunctionObject = ApiObject<FunctionSpec, FunctionStatus>;
