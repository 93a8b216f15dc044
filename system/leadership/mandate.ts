// A leader's right to act, as the parts that act see it: asked before every commit, answer and order. Once it is over it stays over,
// and the first who finds it so ends the term: a process that was paused and wakes in its next term's time emits nothing.

import type {Link, Links} from '../links/link.js';

export type Mandate = {
	/** Whether the holder may act now. */
	readonly holds: () => boolean;
	/** Ends it, for the reason given first. */
	readonly end: (message: string) => void;
};

/** `onEnd` is called once and later, never inside a question. */
export function createMandate(inOffice: () => boolean, defer: (callback: () => void) => void, onEnd: (message: string) => void): Mandate {
	let over = false;
	const end = (message: string): void => {
		if (over) return;
		over = true;
		defer(() => onEnd(message));
	};
	return {
		holds() {
			if (!over && !inOffice()) end('the term of office is over');
			return !over;
		},
		end,
	};
}

/** Links that send nothing out of office, be it new or sent again. */
export const linksInOffice = ({control, bulk}: Links, inOffice: () => boolean): Links => ({
	control: linkInOffice(control, inOffice),
	...(bulk === undefined ? {} : {bulk: linkInOffice(bulk, inOffice)}),
});

const linkInOffice = (link: Link, inOffice: () => boolean): Link => ({
	send(to, packet) {
		if (inOffice()) link.send(to, packet);
	},
	onPacket: listener => link.onPacket(listener),
	onConnected: listener => link.onConnected?.(listener),
	close: () => link.close(),
});
