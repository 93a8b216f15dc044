// `troupe server`: its flags become options; the composition root does the rest, here or in the background.

import {type Flags, type Invocation, usageError} from '../command.js';
import {detach, withBroker} from '../serving/detach.js';
import {brokerVariable, doorsOf, graceOf, storeOf} from '../serving/serving-flags.js';
import type {ServerOptions} from '../serving/serving-options.js';

export async function run({flags, home, inputs, terminal, environment}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError(`server takes no names, got "${inputs.join(' ')}"`);
	const options = readServerOptions(flags, home, environment[brokerVariable]);
	if (options.detach) return detach({command: 'server', home, flags, environment: withBroker(environment, options)}, terminal);
	const {runServer} = await import('../serving/server.js');
	return runServer(options);
}

/** Checks every flag; all that is wrong is told at once. Throws ERR_USAGE. */
function readServerOptions(flags: Flags, home: string, broker?: string): ServerOptions {
	const problems: string[] = [];
	const options: ServerOptions = {
		home,
		...doorsOf(flags, broker, problems),
		store: storeOf(flags, problems),
		grace: graceOf(flags, problems),
		isNew: flags.on('new'),
		faults: flags.on('faults'),
		detach: flags.on('detach'),
	};
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return options;
}
