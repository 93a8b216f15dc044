// `[LOCAL:]REMOTE`, as kubectl has it, and the port of a pod that REMOTE means. Pure.

import type {Pod} from '../../api/kinds/pod.js';
import type {Service} from '../../api/kinds/service.js';
import {failedError, usageError} from '../command.js';

export type Mapping = {
	/** 0: one that is free. */
	readonly local: number;
	/** A number, or the name of a port. */
	readonly remote: number | string;
};

const mostPort = 65_535;

/** `8080:80`, `80` (the same here), `:80` (any here), `8080:http`. Throws ERR_USAGE. */
export function mappingOf(word: string): Mapping {
	const [first = '', second, ...more] = word.split(':');
	const remote = second ?? first;
	const local = second === undefined ? (/^\d+$/.test(first) ? first : '0') : first === '' ? '0' : first;
	const wrong = (): Error => usageError(`a port is [LOCAL:]REMOTE, as in 8080:80, 80, :80 or 8080:http; got "${word}"`);
	if (more.length > 0 || !/^\d{1,5}$/.test(local) || Number(local) > mostPort) throw wrong();
	if (/^\d+$/.test(remote)) {
		if (Number(remote) < 1 || Number(remote) > mostPort) throw wrong();
		return {local: Number(local), remote: Number(remote)};
	}
	if (!/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(remote)) throw wrong();
	return {local: Number(local), remote};
}

/** `service`: what was named, if that was one: its ports are meant then. Throws AppErrors. */
export function portOfPod(remote: number | string, pod: Pod, service: Service | undefined): number {
	if (service === undefined) return typeof remote === 'number' ? remote : namedPort(remote, pod);
	const ports = service.spec?.ports ?? [];
	const found = ports.find(({port, name}) => remote === (typeof remote === 'number' ? port : name));
	if (found === undefined)
		throw failedError(
			`service "${service.metadata.name}" has no port ${remote}; it has ${ports.map(({port}) => port).join(', ') || 'none'}`,
		);
	const {targetPort = found.port} = found;
	return typeof targetPort === 'number' ? targetPort : namedPort(targetPort, pod);
}

function namedPort(name: string, {metadata, spec}: Pod): number {
	const ports = (spec?.containers ?? []).flatMap(container => container.ports ?? []);
	const found = ports.find(port => port.name === name);
	if (found !== undefined) return found.containerPort;
	const names = ports.flatMap(port => port.name ?? []);
	throw failedError(`pod "${metadata.name}" has no port named "${name}"${names.length === 0 ? '' : `; there are ${names.join(', ')}`}`);
}
