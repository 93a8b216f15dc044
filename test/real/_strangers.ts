// Who opens connections and never says who it is: `PORT COUNT tcp|tls|headers`. What is closed is opened again. Says `all` once so many
// were open at the same time or have been closed meanwhile.

import {connect, type Socket} from 'node:net';
import {connect as connectTls} from 'node:tls';

const [port = 0, count = 0] = process.argv.slice(2, 4).map(Number);
const way = process.argv[4];
const at = {host: '127.0.0.1', port};
let opened = 0;
let wanted = count;

function open(): void {
	const isSecure = way !== 'tcp';
	const socket: Socket = isSecure ? connectTls({...at, rejectUnauthorized: false, ALPNProtocols: ['http/1.1']}) : connect(at);
	socket.once('connect', () => {
		opened += 1;
		if (opened === count) process.stdout.write('all\n');
	});
	if (way === 'headers') socket.once('secureConnect', () => socket.write('GET /api HTTP/1.1\r\nHost: x\r\nX-Slow: '));
	socket.on('error', () => undefined).on('close', () => (wanted += 1));
	socket.resume();
}

/** So many in a turn: the machine has to do something else, too. */
const portion = 100;

setInterval(() => {
	const now = Math.min(wanted, portion);
	wanted -= now;
	for (let each = 0; each < now; each += 1) open();
}, 20);
