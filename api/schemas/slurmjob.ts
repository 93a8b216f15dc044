// The schema of a SlurmJob.

import {objectWith} from './metadata.js';
import {about, conditions, list, optional, record, someOf, text, whole} from './parts.js';

export const spec = () =>
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

export const status = () => record({jobId: optional(text()), state: optional(text()), conditions: optional(conditions())});

export const schema = () => objectWith(about('What is compiled and run on an HPC system.', spec()));
