// Rules of probes and lifecycle hooks.

import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {checkAction} from './action.js';
import {forbid, membersOf, refuse, type Found} from './report.js';

const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'] as const;
const probeHandlers = ['exec', 'httpGet', 'tcpSocket'];
const hookHandlers = [...probeHandlers, 'sleep'];
const timing = [
	'initialDelaySeconds',
	'timeoutSeconds',
	'periodSeconds',
	'successThreshold',
	'failureThreshold',
	'terminationGracePeriodSeconds',
];

/** `ports` are the names of the container's ports. */
export function checkProbes(found: Found, path: string, container: JsonObject, ports: readonly string[]): void {
	for (const name of probes)
		if (container[name] !== undefined) checkProbe(found, `${path}.${name}`, membersOf(container[name]), name, ports);
}

function checkProbe(found: Found, path: string, probe: JsonObject, name: (typeof probes)[number], ports: readonly string[]): void {
	checkAction(found, path, probe, probeHandlers, ports, timing);
	const {successThreshold, terminationGracePeriodSeconds} = probe;
	// One success says that it lives; only readiness can be in doubt.
	if (name !== 'readinessProbe' && typeof successThreshold === 'number' && successThreshold > 1)
		refuse(found, `${path}.successThreshold`, `must be 1 in a ${name}, got ${shown(successThreshold)}`);
	if (name === 'readinessProbe' && terminationGracePeriodSeconds !== undefined)
		forbid(found, `${path}.terminationGracePeriodSeconds`, 'must not be set in a readinessProbe: nothing is stopped when it fails');
}

/** `graceSeconds` is the time that the pod has to stop, where it says. */
export function checkLifecycle(found: Found, path: string, lifecycle: JsonObject, ports: readonly string[], graceSeconds: unknown): void {
	for (const name of ['postStart', 'preStop']) {
		if (lifecycle[name] === undefined) continue;
		const hook = membersOf(lifecycle[name]);
		checkAction(found, `${path}.${name}`, hook, hookHandlers, ports);
		const {seconds} = membersOf(hook['sleep']);
		if (typeof seconds === 'number' && typeof graceSeconds === 'number' && seconds > graceSeconds)
			refuse(found, `${path}.${name}.sleep.seconds`, `must be at most terminationGracePeriodSeconds (${graceSeconds}), got ${seconds}`);
	}
}

/** An init container ends by itself: there is nothing to probe and nothing to stop. */
export function refuseProbes(found: Found, path: string, container: JsonObject): void {
	for (const name of [...probes, 'lifecycle'])
		if (container[name] !== undefined) forbid(found, `${path}.${name}`, 'must not be set in an init container');
}
