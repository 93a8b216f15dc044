// What gives a pod the host, which its operator allows or not. Pure.

import type {ContainerSpec, SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';

/** What Docker gives when nothing is said: moby, oci/caps/defaults.go. */
const usualCapabilities = [
	...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'NET_RAW'],
	...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

const notAllowed = (what: string): string => `it asks for ${what}, and this node does not allow that (--allow-privileged)`;

/** Why a node that allows nothing of the host refuses the container; undefined: it does not. */
export function obstacleToRights({privileged, capabilities, seccomp}: ContainerSpec): string | undefined {
	if (privileged) return notAllowed('privileged');
	const beyond = capabilities.add.find(name => !usualCapabilities.includes(name.toUpperCase().replace(/^CAP_/, '')));
	if (beyond !== undefined) return notAllowed(`capability ${beyond}`);
	return seccomp === 'unconfined' ? notAllowed('seccompProfile Unconfined') : undefined;
}

/** The same of what its containers share. */
export function obstacleToNamespaces({hostNetwork, hostPID, hostIPC}: SandboxSpec): string | undefined {
	if (hostNetwork) return notAllowed('hostNetwork');
	if (hostPID) return notAllowed('hostPID');
	return hostIPC ? notAllowed('hostIPC') : undefined;
}
