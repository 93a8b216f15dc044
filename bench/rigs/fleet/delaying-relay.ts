// A program of its own, to be run on a host of the fleet: `node delaying-relay.js FROM TO PORT DELAY_MS`. Whoever connects to the port of
// one address is connected to that of the other, and what either says arrives so much later; this kernel has no `netem`.

import {connect, createServer, type Socket} from 'node:net';
import {systemClock} from '../../../system/time/clock.js';

const [from = '', to = '', port = '', delay = ''] = process.argv.slice(2);
const delayMs = Number(delay);

/** In their order: the clock has timers of one length end in the order in which they began. */
function passOn(one: Socket, other: Socket): void {
	const later = (act: () => void): void => void systemClock.after(delayMs, act);
	one.on('data', chunk => later(() => other.write(chunk)));
	one.on('end', () => later(() => other.end()));
	one.on('error', () => undefined);
	one.on('close', () => later(() => other.destroy()));
}

const relay = createServer({allowHalfOpen: true}, client => {
	const server = connect({host: to, port: Number(port), allowHalfOpen: true});
	passOn(client, server);
	passOn(server, client);
});
relay.listen(Number(port), from, () => process.stdout.write('is ready\n'));
