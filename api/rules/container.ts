// Rules of one container.

import {capabilityName, capabilityNames, isCapability} from '../capabilities.js';
import type {JsonObject} from '../object.js';
import {shown} from '../shown.js';
import {didYouMean} from '../suggest.js';
import {checkEnv, checkEnvFrom} from './env.js';
import {checkDnsLabel} from './names.js';
import {checkPorts, portNames} from './ports.js';
import {checkLifecycle, checkProbes, refuseProbes} from './probe.js';
import {checkProgramText, checkProgramTexts} from './program-text.js';
import {itemsOf, membersOf, refuse, refuseOthers, textOf, type Found} from './report.js';
import {checkResources} from './resources.js';
import {checkMounts} from './volume.js';

/** What a container's fields may name of its pod. */
export type PodContext = {
	readonly volumes: readonly string[];
	/** Init containers among them. */
	readonly containers: readonly JsonObject[];
	/** The pod's terminationGracePeriodSeconds. */
	readonly graceSeconds: unknown;
};

/** Values that ask for what happens anyway. */
const fixed = new Map([
	['terminationMessagePath', ['/dev/termination-log']],
	['terminationMessagePolicy', ['File', 'FallbackToLogsOnError']],
]);

export function checkContainer(found: Found, path: string, container: JsonObject, pod: PodContext): void {
	checkProgram(found, path, container, pod);
	if (container['restartPolicy'] !== undefined)
		refuse(found, `${path}.restartPolicy`, 'may only be set for init containers; of the others the restartPolicy of the pod says it');
	checkAround(found, path, container, pod);
}

/** What is done with it while it runs. */
function checkAround(found: Found, path: string, container: JsonObject, pod: PodContext): void {
	const ports = portNames(container);
	checkProbes(found, path, container, ports);
	checkLifecycle(found, `${path}.lifecycle`, membersOf(container['lifecycle']), ports, pod.graceSeconds);
}

export function checkInitContainer(found: Found, path: string, container: JsonObject, pod: PodContext): void {
	checkProgram(found, path, container, pod);
	// Only a sidecar runs for long enough.
	if (container['restartPolicy'] === 'Always') checkAround(found, path, container, pod);
	else refuseProbes(found, path, container);
}

function checkProgram(found: Found, path: string, container: JsonObject, pod: PodContext): void {
	const name = textOf(container['name']);
	if (name !== undefined) checkDnsLabel(found, `${path}.name`, name);
	const image = textOf(container['image']);
	if (image !== undefined) checkImage(found, `${path}.image`, image);
	checkCommand(found, `${path}.command`, container['command']);
	checkProgramTexts(found, `${path}.args`, container['args']);
	const workingDir = textOf(container['workingDir']);
	if (workingDir !== undefined && workingDir !== '') checkWorkingDir(found, `${path}.workingDir`, workingDir);
	checkEnv(found, `${path}.env`, container['env'], {container, containers: pod.containers});
	checkEnvFrom(found, `${path}.envFrom`, container['envFrom']);
	checkPorts(found, `${path}.ports`, container['ports']);
	checkMounts(found, `${path}.volumeMounts`, container['volumeMounts'], pod.volumes);
	if (container['resources'] !== undefined) checkResources(found, `${path}.resources`, container['resources']);
	refuseOthers(found, container, path, fixed);
	if (container['securityContext'] !== undefined) checkSecurity(found, `${path}.securityContext`, membersOf(container['securityContext']));
}

export function checkCommand(found: Found, path: string, command: unknown): void {
	if (itemsOf(command)[0] === '') refuse(found, `${path}[0]`, 'must name a program, and is empty');
	checkProgramTexts(found, path, command);
}

function checkWorkingDir(found: Found, path: string, workingDir: string): void {
	if (!workingDir.startsWith('/')) refuse(found, path, `must be an absolute path, beginning with "/", got ${shown(workingDir)}`);
	else checkProgramText(found, path, workingDir);
}

export function checkImage(found: Found, path: string, image: string): void {
	if (image === '') refuse(found, path, 'is required', 'FieldValueRequired');
	else if (image.trim() !== image) refuse(found, path, `must not begin or end with a space, got ${shown(image)}`);
}

function checkSecurity(found: Found, path: string, security: JsonObject): void {
	if (security['privileged'] === true && security['allowPrivilegeEscalation'] === false)
		refuse(found, path, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
	for (const change of ['add', 'drop']) {
		itemsOf(membersOf(security['capabilities'])[change]).forEach((name, i) => {
			if (typeof name !== 'string' || isCapability(name)) return;
			const words = `must be a capability such as NET_ADMIN, or ALL, got ${shown(name)}${didYouMean(capabilityName(name), capabilityNames)}`;
			refuse(found, `${path}.capabilities.${change}[${i}]`, words, 'FieldValueNotSupported');
		});
	}
}
