// `node plain-proxy.js PORT`: a reverse proxy before that port of 127.0.0.1, as one would write it with Node alone: connections are kept, bodies are
// piped. It says where it listens, and knows no routes, no errors and no log.

import {Agent, createServer, request} from 'node:http';
import type {AddressInfo} from 'node:net';

const [, , port = ''] = process.argv;
const agent = new Agent({keepAlive: true});

const server = createServer((asked, answer) => {
	const {method, url: path, headers} = asked;
	const sent = request({agent, host: '127.0.0.1', port: Number(port), method, path, headers}, came => {
		answer.writeHead(came.statusCode ?? 0, came.headers);
		came.pipe(answer);
	});
	sent.on('error', () => answer.destroy());
	asked.pipe(sent);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
