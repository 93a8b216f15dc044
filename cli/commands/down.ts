// `troupe down`: stops the cluster, server or agent of a home, and with --pods what it ran.

import {type Invocation, usageError} from '../command.js';
import {homeFlag} from '../files/home-flag.js';
import {stopCluster, stopPods} from '../serving/stop-cluster.js';

export async function run({flags, home, inputs, terminal}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError('down takes no names; troupe delete stops single pods');
	const stopped = await stopCluster(home);
	terminal.out(stopped === undefined ? `no cluster runs in ${home}\n` : `the ${stopped.noun} is stopped (process ${stopped.pid})\n`);
	if (flags.on('pods')) {
		const {count, problem} = await stopPods(home);
		terminal.out(count === 0 ? 'no programs of pods were running\n' : `${count} ${count === 1 ? 'program' : 'programs'} of pods stopped\n`);
		if (problem !== undefined) throw problem;
	} else if (stopped !== undefined && stopped.command !== 'server')
		terminal.out(`pods run on; troupe down --pods${homeFlag(home)} stops them too\n`);
	return 0;
}
