// The host name of a container that has been started and has not begun: Docker gives it that of its infra container, which was made before the pod.
//
// Source: uts_namespaces(7), nsenter(1).

import {readlinkSync} from 'node:fs';
import {runTool} from '../../os/tools.js';

const namespaceOf = (pid: number | 'self'): string => readlinkSync(`/proc/${pid}/ns/uts`);

/** Names the UTS namespace of a process. Rejects with an Error, also where that is the one of this agent: it is the host's. */
export async function setHostname(pid: number, name: string): Promise<void> {
	if (namespaceOf(pid) === namespaceOf('self')) throw new Error('its host name is that of the node');
	await runTool('nsenter', [`--uts=/proc/${pid}/ns/uts`, '--', '/bin/sh', '-c', 'echo "$0" >/proc/sys/kernel/hostname', name]);
}
