// A leader's right to act, as the parts that act see it: asked before every commit, answer and order. Once it is over it stays over,
// and the first part that finds it so ends the term: a process that was paused and wakes in its next term's time emits nothing.

import type {Link, Links} from '../links/link.js';

export type Mandate = {
	/** Whether the holder may act now. */
	readonly holds: () => boolean;
	/** Ends it, for the reason given first. */
	readonly end: (message: string) => void;
};

/** `onEnd` is called once and later, never inside a question. */
export function createMandate(mayAct: () => boolean, defer: (callback: () => void) => void, onEnd: (message: string) => void): Mandate {
	let over = false;
	const end = (message: string): void => {
		if (over) return;
		over = true;
		defer(() => onEnd(message));
	};
	return {
		holds() {
			if (!over && !mayAct()) end('the term of office is over');
			return !over;
		},
		end,
	};
}

/** Links that send nothing once the term is over, be it new or sent again. */
export const linksWhile = ({control, bulk}: Links, mayAct: () => boolean): Links => ({
	control: linkWhile(control, mayAct),
	...(bulk === undefined ? {} : {bulk: linkWhile(bulk, mayAct)}),
});

const linkWhile = (link: Link, mayAct: () => boolean): Link => ({
	send(to, packet) {
		if (mayAct()) link.send(to, packet);
	},
	onPacket: listener => link.onPacket(listener),
	onConnected: listener => link.onConnected?.(listener),
	close: () => link.close(),
});
