// What gives cells their turns: nact in a running system, a seeded list in the virtual world.

/** One cell's place at the executor. */
export type Seat = {
	/** Asks for one turn. A request while one is open is not a second one. */
	readonly request: () => void;
	readonly leave: () => void;
};

export type Executor = {
	/** `turn` handles some messages and answers whether more wait. */
	readonly seat: (turn: () => boolean) => Seat;
	/** Runs something soon, outside the caller's stack. */
	readonly defer: (callback: () => void) => void;
	readonly close: () => void;
};
