// `troupe down`: stops the cluster, and with --pods what it ran.

import type {Invocation} from '../command.js';
import {stopCluster, stopPods} from '../stop-cluster.js';
import {usageError} from '../usage.js';

export async function run({flags, home, inputs, terminal}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError('down takes no names; troupe delete stops single pods');
	const pid = await stopCluster(home);
	terminal.out(pid === undefined ? `no cluster runs in ${home}\n` : `the cluster is stopped (process ${pid})\n`);
	if (flags.on('pods')) {
		const count = await stopPods(home);
		terminal.out(count === 0 ? 'no programs of pods were running\n' : `${count} ${count === 1 ? 'program' : 'programs'} of pods stopped\n`);
	} else if (pid !== undefined) terminal.out('pods run on; troupe down --pods stops them too\n');
	return 0;
}
