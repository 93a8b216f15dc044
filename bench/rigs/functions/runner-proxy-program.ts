// `node runner-proxy-program.js SOCKET...`: a reverse proxy before runners of a function, each at its socket, in turn, as one would write it with Node
// alone: connections are kept, bodies are piped. It says where it listens, and knows no tokens, no slots, no errors and no second try.

import {Agent, createServer, request} from 'node:http';
import type {AddressInfo} from 'node:net';

const [, , ...sockets] = process.argv;
const agent = new Agent({keepAlive: true});
let calls = 0;

const server = createServer((asked, answer) => {
	const {method, url: path, headers} = asked;
	const socketPath = sockets[calls++ % sockets.length];
	const sent = request({agent, socketPath, method, path, headers}, came => {
		answer.writeHead(came.statusCode ?? 0, came.headers);
		came.pipe(answer);
	});
	sent.on('error', () => answer.destroy());
	asked.pipe(sent);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
