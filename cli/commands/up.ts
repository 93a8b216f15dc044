// `troupe up`: its flags become options; the composition root does the rest, here or in the background.

import {hostname} from 'node:os';
import {limits} from '../../api/limits.js';
import {type Flags, type Invocation, usageError} from '../command.js';
import {detach, withBroker} from '../serving/detach.js';
import {
	brokerVariable,
	dnsOf,
	doorsOf,
	engineVariable,
	graceOf,
	hostPathsOf,
	isOnLoopback,
	nodeOf,
	podBoundsOf,
	nodePortsOf,
	podNetworkOf,
	routerOf,
	routerTlsOf,
	runtimesOf,
	storeOf,
} from '../serving/serving-flags.js';
import type {UpOptions} from '../serving/serving-options.js';

export async function run({flags, home, inputs, terminal, environment}: Invocation): Promise<number> {
	if (inputs.length > 0) throw usageError(`up takes no names, got "${inputs.join(' ')}"`);
	const options = readUpOptions(flags, home, hostname(), environment);
	if (options.detach) return detach({command: 'up', home, flags, environment: withBroker(environment, options)}, terminal);
	const {runUp} = await import('../serving/up.js');
	return runUp(options);
}

/** Checks every flag; all that is wrong is told at once. Throws ERR_USAGE. */
export function readUpOptions(flags: Flags, home: string, host: string, environment: Invocation['environment'] = {}): UpOptions {
	const problems: string[] = [];
	const simulatedNodes = flags.number('simulated-nodes') ?? 0;
	if (!Number.isSafeInteger(simulatedNodes) || simulatedNodes < 0 || simulatedNodes > limits.simulatedNodes)
		problems.push(`--simulated-nodes must be a whole number from 0 to ${limits.simulatedNodes}, got ${simulatedNodes}`);
	const doors = doorsOf(flags, environment[brokerVariable], problems);
	const options: UpOptions = {
		home,
		...doors,
		...runtimesOf(flags, environment[engineVariable], problems),
		store: storeOf(flags, problems),
		grace: graceOf(flags, problems),
		isNew: flags.on('new'),
		faults: flags.on('faults'),
		node: nodeOf(flags, host, problems),
		simulatedNodes,
		hostPaths: hostPathsOf(flags, problems) ?? (isOnLoopback(doors) ? 'all' : []),
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
