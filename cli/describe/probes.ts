// Probes and hooks of a container in one line each, in kubectl's words. Pure.

import type {HttpGetAction, LifecycleHandler, Probe} from '../../api/kinds/pod.js';

/** `http-get http://:80/ready delay=0s timeout=1s period=10s #success=1 #failure=3` */
export function probeText(probe: Probe | undefined): string | undefined {
	if (probe === undefined) return undefined;
	const {initialDelaySeconds = 0, timeoutSeconds = 1, periodSeconds = 10, successThreshold = 1, failureThreshold = 3} = probe;
	const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`;
	return `${handlerText(probe)} ${times} #success=${successThreshold} #failure=${failureThreshold}`;
}

/** Undefined where there is no hook. */
export const hookText = (hook: LifecycleHandler | undefined): string | undefined => (hook === undefined ? undefined : handlerText(hook));

function handlerText({exec, httpGet, tcpSocket, sleep}: LifecycleHandler): string {
	if (exec !== undefined) return `exec [${(exec.command ?? []).join(' ')}]`;
	if (httpGet !== undefined) return `http-get ${urlOf(httpGet)}`;
	if (tcpSocket !== undefined) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port}`;
	return sleep === undefined ? 'unknown' : `sleep ${sleep.seconds}s`;
}

const urlOf = ({scheme = 'HTTP', host = '', port, path = '/'}: HttpGetAction): string =>
	`${scheme.toLowerCase()}://${host}:${port}${path.startsWith('/') ? '' : '/'}${path}`;
