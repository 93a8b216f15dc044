// A way to cut a system off from all others, and back: what it sends and what comes is lost, as on a network that fell apart. The streams
// above send again what was not taken.

import type {Link, Links} from './link.js';

export type Partition<Ways extends Links = Links> = {
	/** The links that are cut; the system is given these. */
	readonly links: Ways;
	readonly cut: () => void;
	readonly mend: () => void;
};

export function createPartition(links: Required<Links>): Partition<Required<Links>>;
export function createPartition(links: Links): Partition;
export function createPartition(links: Links): Partition {
	let isCut = false;
	const mended: (() => void)[] = [];
	const partOf = (link: Link): Link => ({
		send(to, packet) {
			if (!isCut) link.send(to, packet);
		},
		onPacket: listener =>
			link.onPacket((from, packet) => {
				if (!isCut) listener(from, packet);
			}),
		onConnected(listener) {
			link.onConnected?.(listener);
			mended.push(listener);
		},
		// A connection that is well need not be made anew: it is this cut that keeps the answers away.
		verify(withinMs) {
			if (!isCut) link.verify?.(withinMs);
		},
		close: () => link.close(),
	});
	return {
		links: {control: partOf(links.control), ...(links.bulk === undefined ? {} : {bulk: partOf(links.bulk)})},
		cut: () => void (isCut = true),
		mend() {
			isCut = false;
			for (const listener of mended) listener();
		},
	};
}
