// The schema of a SlurmJob.

import {slurmPhases} from '../slurm-phase.js';
import {objectWith} from './metadata.js';
import {about, conditions, count, list, maxInt32, oneOf, optional, quantity, record, someOf, text, whole} from './parts.js';

const amount = () => whole(1, 1_000_000);

export const spec = () =>
	record({
		submitHost: optional(
			about('The login node, such as login.hpc.example or login.hpc.example:2222; the first of slurm.hosts when left out.', text()),
		),
		username: optional(about('The login there; the entry username of the Secret when left out.', text())),
		secretName: optional(
			about('A Secret with the entry ssh-privatekey (and passphrase) or password; username and known_hosts may be in it, too.', text()),
		),
		password: optional(
			about(
				'The password of the login. It is moved into a Secret, and never kept here; better name one by secretName.',
				text({'x-private': true}),
			),
		),
		hostKey: optional(
			about('The fingerprint of the key of the login node, such as SHA256:…, as ssh-keygen -l prints it: no other one is taken.', text()),
		),
		submitDirectory: optional(about('The folder whose files are uploaded; its path is relative to the manifest.', text())),
		artifact: optional(about('The digest of these files in the cluster: troupe apply sets it.', text())),
		partition: optional(about('The partition; that of Slurm when left out.', text())),
		account: optional(about('The account that is charged.', text())),
		qos: optional(about('The quality of service.', text())),
		nodes: optional(about('How many nodes.', amount())),
		nTasks: optional(about('How many tasks; 1 when left out.', amount())),
		nTasksPerNode: optional(about('How many of them on a node.', amount())),
		cpusPerTask: optional(about('How many processors each task has.', amount())),
		gpuNums: optional(about('How many GPUs on each node.', whole(0, 1_000_000))),
		memory: optional(about('The memory on each node, such as 4Gi.', quantity())),
		timeLimit: optional(about('How long it may run, such as 90m.', text())),
		array: optional(about('Indexes of an array of such jobs, such as 0-19 or 1,3,5-9; with %4 behind it at most four at a time.', text())),
		modules: optional(about('Modules that are loaded before the commands.', list(text()))),
		env: optional(
			about(
				'Variables of the commands.',
				list(record({name: about('Its name.', text()), value: optional(about('Its value.', text({'x-private': true})))})),
			),
		),
		compileCommands: optional(
			about('What makes the programs, line by line, on the login node; ends at the first that fails.', list(text())),
		),
		runCommands: about('What runs, line by line; ends at the first that fails.', someOf(text())),
		outputFile: optional(
			about('Where the output goes, in the folder of the job; slurm.out when left out. Of an array with %a for the index.', text()),
		),
		errorFile: optional(about('Where errors go; to the output when left out.', text())),
		resultFiles: optional(
			about('Files that are fetched when it is over, beside the output; in a name * stands for anything.', list(text())),
		),
	});

const artifact = () =>
	record({
		name: about('The path of the file in the folder of the job.', text()),
		bytes: about('How large it is.', whole(0, Number.MAX_SAFE_INTEGER)),
		digest: about('sha256: and its digits.', text()),
	});

export const status = () =>
	record({
		observedGeneration: optional(whole(0, Number.MAX_SAFE_INTEGER)),
		phase: optional(about('How far it is.', oneOf(slurmPhases))),
		host: optional(about('The login node it was given to.', text())),
		username: optional(about('The login there.', text())),
		hostKey: optional(about('The fingerprint of the key that the login node has shown.', text())),
		folder: optional(about('Its folder there, below the home of the login.', text())),
		jobId: optional(about('The number that Slurm has given it.', text())),
		state: optional(about('How Slurm has it.', text())),
		reason: optional(about('Why Slurm has it so.', text())),
		queuePosition: optional(about('How many jobs of the partition come before it, and it: 1 is the next.', count())),
		estimatedStart: optional(about('When Slurm expects it to start.', text())),
		nodes: optional(about('Where it runs.', text())),
		restarts: optional(about('How often Slurm has begun it anew.', count())),
		tasks: optional(
			about(
				'Of an array: how many of its jobs are how far.',
				record({
					pending: optional(count()),
					running: optional(count()),
					succeeded: optional(count()),
					failed: optional(count()),
					cancelled: optional(count()),
				}),
			),
		),
		exitCode: optional(about('Of its commands; of an array the largest.', whole(0, maxInt32))),
		signal: optional(about('What killed it.', whole(0, maxInt32))),
		submitTime: optional(about('When Slurm had it.', text())),
		startTime: optional(about('When it started.', text())),
		completionTime: optional(about('When it was over and its results were here.', text())),
		outcome: optional(
			about(
				'How it ended.',
				record({
					phase: about('What it comes to.', oneOf(['Succeeded', 'Failed', 'Cancelled'])),
					reason: about('Why, in one word.', text()),
					message: about('The same in a sentence.', text()),
				}),
			),
		),
		artifacts: optional(about('The files that were fetched.', list(artifact()))),
		expiresAt: optional(about('They are kept until then.', text())),
		isReleased: optional(about('Of one that is being deleted: nothing of it is left at the login node.', oneOf(['released', 'givenUp']))),
		conditions: optional(about('What holds of it.', conditions())),
	});

export const schema = () => objectWith(about('What is compiled and run on an HPC system.', spec()));
