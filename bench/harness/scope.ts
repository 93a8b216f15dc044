// What a benchmark opened and has to give back, in reverse order: processes, folders, connections. An interrupted run gives
// back as well.

export type Scope = {
	/** Adds something to give back; at once when everything else was. */
	readonly defer: (release: () => unknown) => void;
	/** Gives everything back, the newest first; one that fails keeps none of the others. Whoever asks again waits for the same. */
	readonly close: () => Promise<void>;
	/** Whether that has begun: nothing new is to be opened. */
	readonly isClosing: () => boolean;
};

export function createScope(): Scope {
	const releases: (() => unknown)[] = [];
	let closing: Promise<void> | undefined;
	let closed = false;

	const closeAll = async (): Promise<void> => {
		for (let release = releases.pop(); release !== undefined; release = releases.pop()) await released(release);
		closed = true;
	};

	return {
		defer(release) {
			if (closed) void released(release);
			else releases.push(release);
		},
		close: () => (closing ??= closeAll()),
		isClosing: () => closing !== undefined,
	};
}

async function released(release: () => unknown): Promise<void> {
	try {
		await release();
	} catch (error) {
		process.stderr.write(`could not clean up: ${error instanceof Error ? error.message : String(error)}\n`);
	}
}
