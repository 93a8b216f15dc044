// A program of its own, to be run in a network namespace: `node _slow-relay.js PORT TO BYTES`. What comes to one port of loopback goes to the
// other, and comes back with so many bytes a second and connection.

import {connect, createServer} from 'node:net';
import {systemClock} from '../../system/time/clock.js';

const [port = 0, to = 0, bytesPerSecond = 1] = process.argv.slice(2).map(Number);

const relay = createServer(client => {
	const server = connect(to, '127.0.0.1');
	client.on('error', () => server.destroy()).on('close', () => server.destroy());
	server.on('error', () => client.destroy()).on('end', () => client.end());
	client.pipe(server);
	server.on('data', chunk => {
		server.pause();
		client.write(chunk);
		systemClock.after((chunk.length / bytesPerSecond) * 1_000, () => server.resume());
	});
});
relay.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'));
