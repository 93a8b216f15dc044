// The names that a command carries, before anything is done with them.

import type {RuntimeCommand} from '../actors/node/runtime/runtime-port.js';
import {isFolderName} from './os/folders.js';

/** Names become folders, so nothing else than a plain name may reach the disk. */
export function wrongName(command: RuntimeCommand): string | undefined {
	const wrong = namesIn(command).find(name => !isFolderName(name));
	return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is no name of a pod or a container: letters, digits, ".", "_", "-"`;
}

function namesIn(command: RuntimeCommand): readonly string[] {
	switch (command.type) {
		case 'sandbox.ensure':
			return [command.spec.uid];
		case 'sandbox.remove':
		case 'lease.extend':
		case 'devices.release':
			return [command.uid];
		case 'volumes.ensure':
			return [command.uid, ...command.volumes.flatMap(({name, source}) => (source.type === 'local' ? [name, source.volume] : [name]))];
		case 'volume.remove':
		case 'volume.measure':
			return [command.volume];
		case 'exec.write':
		case 'exec.read':
		case 'exec.resize':
		case 'exec.close':
		case 'sandbox.list':
		case 'image.list':
		case 'image.open':
		case 'usage.read':
			return [];
		case 'container.start':
			return [command.spec.id.uid, command.spec.id.container];
		case 'exec.open':
		case 'logs.read':
			return [command.request.id.uid, command.request.id.container];
		case 'forward.open':
			return [command.request.uid];
		case 'container.inspect':
		case 'container.stop':
		case 'image.ensure':
		case 'container.act':
		case 'stdin.write':
			return [command.id.uid, command.id.container];
	}
}
