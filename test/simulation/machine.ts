// One program on one host of the virtual world: what of it outlives its process, and how it ends.

import {checkedStore} from '../../system/store/checked-store.js';
import type {MemoryStoreData} from '../../system/store/memory-store.js';
import type {Batch, StoreDriver} from '../../system/store/store.js';
import {emptyDisk, type World} from '../../system/world/world.js';
import type {WorldHost} from '../../system/world/network.js';
import type {WorldProcess} from '../../system/world/process.js';
import {createWorldStore, wellStore, type StoreTrouble} from '../../system/world/store.js';
import type {WorldUplink} from '../../system/world/uplink.js';

export type Machine<System> = {
	readonly name: string;
	readonly host: WorldHost;
	readonly disk: MemoryStoreData;
	process: WorldProcess | undefined;
	system: System | undefined;
	uplink: WorldUplink | undefined;
	trouble: StoreTrouble;
	/** It is killed right after so many more commits. */
	commitsToLive: number | undefined;
	/** How often it was started. */
	starts: number;
	hasPower: boolean;
};

export const newMachine = <System>(name: string, host: WorldHost, disk: MemoryStoreData = emptyDisk()): Machine<System> => ({
	name,
	host,
	disk,
	process: undefined,
	system: undefined,
	uplink: undefined,
	trouble: wellStore,
	commitsToLive: undefined,
	starts: 0,
	hasPower: true,
});

/** SIGKILL: nothing is said, nothing is finished. */
export function kill(machine: Machine<{readonly kill: () => void}>): void {
	// Dead first: nothing of what the runtime does while it is torn down may leave the process.
	machine.process?.kill();
	machine.system?.kill();
	machine.process = undefined;
	machine.system = undefined;
	machine.uplink = undefined;
	machine.commitsToLive = undefined;
}

/** A new process; the old one, if any, must be dead. */
export function boot(machine: Machine<unknown>, world: World): {readonly process: WorldProcess; readonly boot: string} {
	const process = world.process(machine.host);
	machine.process = process;
	machine.starts++;
	return {process, boot: `${machine.name}-boot-${machine.starts}`};
}

export type StoreEvents = {
	/** Checksums above the store, as real ones have them. */
	readonly checksums: boolean;
	readonly onDurable?: (batch: Batch) => void;
	readonly onKilled: () => void;
};

/** The machine's store as this process has it. */
export const storeOf = (
	machine: Machine<{readonly kill: () => void}>,
	process: WorldProcess,
	world: World,
	{checksums, onDurable, onKilled}: StoreEvents,
): StoreDriver => {
	const driver = createWorldStore({
		process,
		random: world.random,
		data: machine.disk,
		trouble: () => machine.trouble,
		onDurable(batch) {
			onDurable?.(batch);
			if (machine.commitsToLive === undefined || machine.process !== process || machine.commitsToLive-- > 0) return;
			kill(machine);
			onKilled();
		},
	});
	return checksums ? checkedStore(driver) : driver;
};
