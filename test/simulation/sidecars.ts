// Pods with sidecars: what they are, and what must hold of them at every moment. I19 says it in words.

import type {JsonObject} from '../../api/object.js';
import type {RuntimeCommand} from '../../actors/node/runtime/runtime-port.js';
import type {SimulatedHost} from '../../agent/simulated/host.js';

type Id = {readonly uid: string; readonly container: string};

/** In the order in which they start; what they are there for comes after them. */
export const sidecarNames: readonly string[] = ['first', 'second'];
const order: readonly string[] = [...sidecarNames, 'main'];

export const withSidecars: JsonObject = {
	initContainers: sidecarNames.map(name => ({name, image: 'program', command: ['serve'], restartPolicy: 'Always'})),
};

export const hasSidecars = (pod: {readonly spec?: {readonly initContainers?: readonly {readonly name: string}[]}}): boolean =>
	pod.spec?.initContainers?.[0]?.name === sidecarNames[0];

/** What has not begun in the sandbox of now, and has to before this container is started. */
export function missingBefore({pods, find}: SimulatedHost, {uid, container}: Id): readonly string[] {
	const firstAttempts = pods.get(uid)?.firstAttempts;
	return order.slice(0, Math.max(0, order.indexOf(container))).filter(name => {
		const begun = find({uid, container: name});
		return begun === undefined || begun.spec.attempt < (firstAttempts?.[name] ?? 0);
	});
}

/** What runs that a sidecar is there for when its end is ordered; nothing is waited for where there is no grace. */
export function stillBehind({find}: SimulatedHost, {id, graceMs}: Extract<RuntimeCommand, {type: 'container.stop'}>): readonly string[] {
	const at = sidecarNames.indexOf(id.container);
	if (at < 0 || graceMs <= 0 || !isRunning(find(id))) return [];
	return order.slice(at + 1).filter(container => isRunning(find({uid: id.uid, container})));
}

const isRunning = (container: ReturnType<SimulatedHost['find']>): boolean => container !== undefined && container.exit === undefined;
