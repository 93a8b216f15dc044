// What a process runtime needs to know of its host, and what it says of it.

import os from 'node:os';
import process from 'node:process';
import type {RuntimeInfo} from '../../actors/node/runtime-port.js';
import {limits} from '../../api/limits.js';
import {readBootId} from './identity.js';
import type {Host} from './plan.js';
import {findDropper, type Dropper} from './privileges.js';

/** As a login shell of Debian has it. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Throws errno exceptions where there is no /proc of a Linux kernel. */
export function hostOf(path: string = defaultPath, dropper: Dropper | null | undefined, onWarning: (message: string) => void): Host {
	const agent = {uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0};
	const found = agent.uid === 0 ? (dropper === null ? undefined : (dropper ?? findDropper())) : undefined;
	if (agent.uid === 0 && found === undefined) {
		onWarning(
			'neither chroot of GNU coreutils nor setpriv of util-linux can change the user here: ' +
				'containers of other users run under shims of these users, which their programs can kill',
		);
	}
	return {agent, dropper: found, path, bootId: readBootId()};
}

/** As the node's record shows it. */
export function infoOf({agent, bootId}: Host, hostIP: string, maxPods: number = limits.podsPerNode): RuntimeInfo {
	return {
		name: 'process',
		version: process.versions.node,
		cpuMillis: os.availableParallelism() * 1_000,
		memoryBytes: os.totalmem(),
		maxPods,
		features: agent.uid === 0 ? ['runAsUser'] : [],
		conditions: [
			{
				type: 'SharedNetwork',
				reason: 'ProcessRuntime',
				message: 'pods share the network of this node; each has a loopback address of its own',
			},
			{
				type: 'LimitsNotEnforced',
				reason: 'ProcessRuntime',
				message: 'limits of cpu and memory are not enforced on this node',
			},
		],
		hostIP,
		hostBootId: bootId,
		os: os.type(),
		kernel: os.release(),
		architecture: os.arch(),
	};
}
