// The listening sockets of the proxy: opened and closed as served places come and go, tried again where that fails.

import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {placeText, type EndpointPlace} from '../services/served-port.js';

export type Door = {
	/** Names it among all. */
	readonly id: string;
	readonly at: EndpointPlace;
	readonly open: () => Promise<{readonly close: () => void}>;
	/** Undefined: all is well. */
	readonly onProblem: (error: unknown) => void;
};

export type Doors = {
	readonly add: (door: Door) => void;
	/** What comes in after that is refused by the kernel. */
	readonly remove: (id: string) => void;
	/** Those that could not be opened are tried again. */
	readonly retry: (ids: Iterable<string>) => void;
	/** Whether one of them is open there. */
	readonly isOpen: (at: EndpointPlace) => boolean;
	readonly close: () => void;
};

type State = {readonly door: Door; listener: {readonly close: () => void} | undefined; cancel: Cancel | undefined; tries: number};

export function createDoors(clock: Clock): Doors {
	const states = new Map<string, State>();
	const openPlaces = new Map<string, number>();
	const count = ({door}: State, by: 1 | -1): void => {
		const place = placeText(door.at);
		const left = (openPlaces.get(place) ?? 0) + by;
		if (left === 0) openPlaces.delete(place);
		else openPlaces.set(place, left);
	};
	const open = async (state: State): Promise<void> => {
		state.cancel = undefined;
		const {door} = state;
		try {
			const listener = await door.open();
			if (states.get(door.id) !== state) {
				listener.close();
				retryPort(door.at.port);
				return;
			}
			state.listener = listener;
			state.tries = 0;
			count(state, 1);
			door.onProblem(undefined);
		} catch (error) {
			if (states.get(door.id) !== state) return;
			door.onProblem(error);
			const waitMs = Math.min(limits.proxyListenMaxMs, limits.proxyListenFirstMs * 2 ** state.tries);
			state.tries += 1;
			state.cancel = clock.after(waitMs, () => void open(state));
		}
	};
	const retry = (state: State): void => {
		// One that is being opened has nothing to wait for.
		if (state.cancel === undefined) return;
		state.cancel();
		void open(state);
	};
	/** What was in the way may have been a door of ours. */
	const retryPort = (port: number): void => {
		for (const state of states.values()) if (state.door.at.port === port) retry(state);
	};
	const remove = (id: string): void => {
		const state = states.get(id);
		if (state === undefined) return;
		states.delete(id);
		state.cancel?.();
		state.door.onProblem(undefined);
		if (state.listener === undefined) return;
		count(state, -1);
		state.listener.close();
		retryPort(state.door.at.port);
	};
	return {
		add(door) {
			const state: State = {door, listener: undefined, cancel: undefined, tries: 0};
			states.set(door.id, state);
			void open(state);
		},
		remove,
		retry(ids) {
			for (const id of ids) {
				const state = states.get(id);
				if (state !== undefined) retry(state);
			}
		},
		isOpen: at => openPlaces.has(placeText(at)),
		close() {
			for (const id of [...states.keys()]) remove(id);
		},
	};
}
