// The thread of a beat. It knows nothing of the agent but a counter that the main loop moves.

import {parentPort, workerData} from 'node:worker_threads';
import {stillnessOf} from './beat.js';
import {openBeatLine} from './beat-line.js';
import {beatSockets} from './beat-socket.js';
import type {BeatMessage, BeatWork} from './beat-thread.js';
import {paceOf, usualPace} from './pace.js';
import {systemClock} from '../time/clock.js';
import {systemRandom} from '../time/random.js';

const {movement, node, boot, ...login} = workerData as BeatWork;
let {servers} = login;
let isSilent = false;
let pace = usualPace;
const stillMs = stillnessOf(() => Atomics.load(movement, 0), systemClock);

const close = openBeatLine({
	node,
	boot,
	servers: () => servers,
	...beatSockets({...login, node, boot, clock: systemClock}),
	clock: systemClock,
	random: systemRandom,
	pace: () => pace,
	// An agent that is to be silent does as if its main loop stood still.
	stillMs: () => (isSilent ? Infinity : stillMs()),
	onLine: stands => parentPort?.postMessage(stands ? 'stands' : 'lost'),
	onSilent: () => parentPort?.postMessage('silent'),
});

parentPort?.on('message', (message: BeatMessage) => {
	switch (message.type) {
		case 'servers':
			servers = message.servers;
			return;
		case 'silence':
			isSilent = message.isSilent;
			return;
		case 'pace':
			pace = paceOf(message.graceMs);
			return;
		case 'close':
			close();
			// Ends the thread once the connection has.
			parentPort?.close();
	}
});
