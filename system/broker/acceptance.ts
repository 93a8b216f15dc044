// Messages that somebody beside the subscribers takes over (`BrokerOptions.accept`): of QoS 1 and 2 the acknowledgement waits until that is done. Of one
// connection several may wait, as many as its turns let in; their acknowledgements, and what subscribers get of them, stay in order.

/** What a connection has of it: whether the last message that waits, and with it all before, was taken. */
export type Waiting = {acceptance: Promise<boolean> | undefined};

/**
 * Calls back once the message and all before it of this connection were taken; with false where one was not. At once where nothing
 * waits. `accepted` may reject.
 */
export function inOrder(connection: Waiting, accepted: Promise<void> | undefined, then: (isTaken: boolean) => void): void {
	const before = connection.acceptance;
	if (before === undefined && accepted === undefined) return then(true);
	const own = Promise.all([before, accepted]).then(
		([isTaken = true]) => isTaken,
		() => false,
	);
	connection.acceptance = own;
	void own.then(isTaken => {
		if (connection.acceptance === own) connection.acceptance = undefined;
		then(isTaken);
	});
}

/** While one of a name is being taken, whoever asks for it again gets the same. */
export function onceAtATime(): (name: string, take: () => Promise<void> | undefined) => Promise<void> | undefined {
	const underWay = new Map<string, Promise<void>>();
	return (name, take) => {
		const before = underWay.get(name);
		if (before !== undefined) return before;
		const taken = take();
		if (taken === undefined) return undefined;
		underWay.set(name, taken);
		// Not before it was noted as taken.
		const forget = (): void => void setImmediate(() => underWay.delete(name));
		taken.then(forget, forget);
		return taken;
	};
}
