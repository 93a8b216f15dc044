// `troupe agent`: its flags become options; the composition root does the rest, here or in the background.

import {hostname} from 'node:os';
import {type Flags, type Invocation, usageError} from '../command.js';
import {detach} from '../serving/detach.js';
import {
	dnsOf,
	engineVariable,
	hostPathsOf,
	metricsOf,
	metricsTokenFileOf,
	nodeOf,
	podBoundsOf,
	nodePortsOf,
	podNetworkOf,
	routerOf,
	routerTlsOf,
	runtimesOf,
	serversOf,
} from '../serving/serving-flags.js';
import type {AgentOptions} from '../serving/serving-options.js';

/** Beside `--token`: so it is in no list of processes and no history of a shell. */
const tokenVariable = 'TROUPE_TOKEN';

export async function run({flags, home, inputs, terminal, environment}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError(`agent takes no names, got "${inputs.join(' ')}"; --join names the servers`);
	const options = readAgentOptions(flags, home, hostname(), environment);
	if (options.detach) {
		const secret = options.token === undefined ? {} : {[tokenVariable]: options.token};
		return detach({command: 'agent', home, flags, environment: {...environment, ...secret}}, terminal);
	}
	const {runAgent} = await import('../serving/agent.js');
	return runAgent(options);
}

/** Checks every flag; all that is wrong is told at once. Throws ERR_USAGE. */
export function readAgentOptions(flags: Flags, home: string, host: string, environment: Invocation['environment']): AgentOptions {
	const problems: string[] = [];
	const options: AgentOptions = {
		home,
		join: serversOf(flags, problems),
		token: flags.text('token') ?? environment[tokenVariable],
		caFile: flags.text('ca'),
		node: flags.text('node') === undefined ? undefined : nodeOf(flags, host, problems),
		hostNode: nodeOf(flags, host, flags.text('node') === undefined ? problems : []),
		...runtimesOf(flags, environment[engineVariable], problems),
		cache: flags.text('cache'),
		hostPaths: hostPathsOf(flags, problems),
		isNew: flags.on('new'),
		metrics: metricsOf(flags, problems),
		metricsTokenFile: metricsTokenFileOf(flags, problems),
		isBehindNat: flags.on('behind-nat'),
		faults: flags.on('faults'),
		router: routerOf(flags, problems),
		routerTls: routerTlsOf(flags, problems),
		dns: dnsOf(flags, problems),
		podNetwork: podNetworkOf(flags, problems),
		nodePorts: nodePortsOf(flags, problems),
		...podBoundsOf(flags, problems),
		detach: flags.on('detach'),
	};
	if (problems.length > 0) throw usageError(problems.join('\n'));
	return options;
}
