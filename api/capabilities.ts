// The rights of root that Linux gives one by one, and which of them Docker gives to every container.

const dockerDefaults: ReadonlySet<string> = new Set([
	'AUDIT_WRITE',
	'CHOWN',
	'DAC_OVERRIDE',
	'FOWNER',
	'FSETID',
	'KILL',
	'MKNOD',
	'NET_BIND_SERVICE',
	'NET_RAW',
	'SETFCAP',
	'SETGID',
	'SETPCAP',
	'SETUID',
	'SYS_CHROOT',
]);

/** Of capabilities(7), in the words of Docker and Kubernetes. */
export const capabilityNames: readonly string[] = [
	...dockerDefaults,
	'AUDIT_CONTROL',
	'AUDIT_READ',
	'BLOCK_SUSPEND',
	'BPF',
	'CHECKPOINT_RESTORE',
	'DAC_READ_SEARCH',
	'IPC_LOCK',
	'IPC_OWNER',
	'LEASE',
	'LINUX_IMMUTABLE',
	'MAC_ADMIN',
	'MAC_OVERRIDE',
	'NET_ADMIN',
	'NET_BROADCAST',
	'PERFMON',
	'SYSLOG',
	'SYS_ADMIN',
	'SYS_BOOT',
	'SYS_MODULE',
	'SYS_NICE',
	'SYS_PACCT',
	'SYS_PTRACE',
	'SYS_RAWIO',
	'SYS_RESOURCE',
	'SYS_TIME',
	'SYS_TTY_CONFIG',
	'WAKE_ALARM',
];

const known: ReadonlySet<string> = new Set([...capabilityNames, 'ALL']);

/** `cap_net_admin` is NET_ADMIN, as for Docker. */
export const capabilityName = (written: string): string => written.toUpperCase().replace(/^CAP_/, '');

export const isCapability = (written: string): boolean => known.has(capabilityName(written));

/** Whether a container has it without asking. */
export const isGivenByDocker = (written: string): boolean => dockerDefaults.has(capabilityName(written));
