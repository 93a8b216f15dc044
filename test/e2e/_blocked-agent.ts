// An agent with nothing but its uplink, whose main loop stands still when it is told to: `node _blocked-agent.js <url>`.

import {openUplink} from '../../system/presence/uplink.js';

const url = process.argv[2] ?? '';
const uplink = openUplink({
	servers: () => [url],
	node: 'node-a',
	password: 'secret of node-a',
	boot: 'boot-1',
	onRefused: reason => process.send?.({refused: reason}),
});

process.on('message', (blockMs: number) => {
	if (blockMs === 0) {
		process.disconnect();
		void uplink.close();
		return;
	}
	process.send?.('blocked');
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
	process.send?.('moves');
});
