// Bytes that wait in this process for a reader that does not take them, of all connections together.

export type HeldBytes = {
	/** One direction of one connection stands still. */
	readonly add: (direction: object, bytes: number, end: () => void) => void;
	/** It goes on, or is over. */
	readonly remove: (direction: object) => void;
	readonly bytes: () => number;
};

/** Beyond the bound the one that has stood still for the longest time is ended. */
export function createHeldBytes(most: number): HeldBytes {
	const held = new Map<object, {readonly bytes: number; readonly end: () => void}>();
	let total = 0;
	const remove = (direction: object): void => {
		total -= held.get(direction)?.bytes ?? 0;
		held.delete(direction);
	};
	return {
		add(direction, bytes, end) {
			remove(direction);
			held.set(direction, {bytes, end});
			total += bytes;
			for (const [oldest, entry] of held) {
				if (total <= most) return;
				remove(oldest);
				entry.end();
			}
		},
		remove,
		bytes: () => total,
	};
}
