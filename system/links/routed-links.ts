// The links of a system whose peers are partly in its own process and partly on other hosts: by name, each takes its way.

import type {Link, Links} from './link.js';

/** `isHere` names the peers of this process. What comes from elsewhere in one of their names is dropped. Both ways have both lanes. */
export const routedLinks = (isHere: (peer: string) => boolean, here: Required<Links>, elsewhere: Required<Links>): Required<Links> => ({
	control: routed(isHere, here.control, elsewhere.control),
	bulk: routed(isHere, here.bulk, elsewhere.bulk),
});

const routed = (isHere: (peer: string) => boolean, here: Link, elsewhere: Link): Link => ({
	send(to, packet) {
		if (isHere(to)) here.send(to, packet);
		else elsewhere.send(to, packet);
	},
	onPacket(listener) {
		here.onPacket((from, packet) => {
			if (isHere(from)) listener(from, packet);
		});
		elsewhere.onPacket((from, packet) => {
			if (!isHere(from)) listener(from, packet);
		});
	},
	onConnected(listener) {
		here.onConnected?.(listener);
		elsewhere.onConnected?.(listener);
	},
	async close() {
		await Promise.all([here.close(), elsewhere.close()]);
	},
});
