// The variables by which CUDA and NVIDIA's tools know which GPUs a program has. Pure.

import type {ContainerDevices, EnvVariable, OpenedSpec} from '../../actors/node/runtime/runtime-port.js';

/**
 * The environment of a program of the host: what its manifest says there may not name other devices than its own. `isClosed`: it cannot open
 * any other, and CUDA counts what it can open (as Slurm has it, gres_use_local_device_index).
 */
export function withDeviceVariables({env, devices}: Pick<OpenedSpec, 'env' | 'devices'>, isClosed: boolean): readonly EnvVariable[] {
	if (devices === undefined) return env;
	const names = deviceNames(devices).join();
	// CUDA would count the fastest first, and not as the driver does.
	const isCounted = devices.own.some(({uuid}) => uuid === undefined);
	return withVariables(env, [
		{name: 'CUDA_VISIBLE_DEVICES', value: isCounted && isClosed ? [...devices.own.keys()].join() : names},
		...(isCounted ? [{name: 'CUDA_DEVICE_ORDER', value: 'PCI_BUS_ID'}] : []),
		{name: visible, value: names === '' ? noDevices : names},
	]);
}

/** Of a container of Docker that has none: an Engine that gives all containers NVIDIA's runtime would else go by what its image says. */
export const withoutDevices = ({env, devices}: Pick<OpenedSpec, 'env' | 'devices'>): readonly EnvVariable[] =>
	devices === undefined || devices.own.length > 0 ? env : withVariables(env, [{name: visible, value: noDevices}]);

/** What of these variables an Engine goes by when it makes a container: nothing changes it afterwards. */
export const fixedVariables = (env: readonly string[] = []): string[] => env.filter(variable => variable === `${visible}=${noDevices}`);

/** As the driver knows them: by names where all of them have one, else by numbers. */
export function deviceNames({own}: ContainerDevices): readonly string[] {
	const uuids = own.flatMap(({uuid}) => uuid ?? []);
	return uuids.length === own.length ? uuids : own.map(({index}) => String(index));
}

const visible = 'NVIDIA_VISIBLE_DEVICES';
/** As NVIDIA's container toolkit has it: as if there were no GPU. */
const noDevices = 'void';

const withVariables = (env: readonly EnvVariable[], own: readonly EnvVariable[]): readonly EnvVariable[] => [
	...env.filter(({name}) => own.every(each => each.name !== name)),
	...own,
];
