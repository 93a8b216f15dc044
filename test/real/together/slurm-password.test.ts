// SlurmJobs whose login is a password, at a real sshd with real Slurm (Debian: slurm-wlm, openssh-server): the password of a user of this host that is made
// for it, judged by sshd itself or by PAM.

import test from 'ava';
import {openSlurmStage} from './_slurm-stage.js';

for (const method of ['password', 'keyboard-interactive'] as const)
	test.serial(`a real sshd takes the password of a Secret by ${method} alone, and no other one`, async t => {
		if (process.getuid?.() !== 0) return t.fail('this test makes a user with a password, which only root may');
		const {slurm, home, spec, submit, over, read} = await openSlurmStage(t, {method});
		await submit('let-in', spec({compileCommands: ['whoami'], runCommands: ['whoami']}));
		const job = await over('let-in');
		t.like(job.status, {phase: 'Succeeded', username: slurm.username, hostKey: slurm.fingerprint});
		t.true((await home.fine('logs', 'slurmjob/let-in')).endsWith(`${slurm.username}\n`));
		t.false(JSON.stringify(await read('let-in')).includes(slurm.password ?? '?'));

		await home.apply({
			apiVersion: 'v1',
			kind: 'Secret',
			metadata: {name: 'wrong'},
			stringData: {password: `${slurm.password ?? ''}x`, username: slurm.username, known_hosts: slurm.knownHosts},
		});
		await submit('not-let-in', spec({secretName: 'wrong', runCommands: ['true']}));
		t.is((await over('not-let-in')).status?.outcome?.reason, 'AuthenticationFailed');
		t.is(await slurm.jobsNamed('not-let-in.'), 0);
	});
