// A data plane that answers, at the first port of each Service on 127.0.0.1, with its pid and what it is told. The Service "broken" lets it fail at its start.

import {beginDataPlane} from '../../../agent/network/data-plane/begin.js';
import type {OpenServers} from '../../../agent/network/data-plane/servers.js';
import type {NetworkService} from '../../../actors/protocol/network-object.js';
import type {TcpListener} from '../../../agent/network/listeners/listeners.js';

const openEcho: OpenServers = ({index, listeners, onProblem}) => {
	const open = new Map<string, Promise<{close: () => void} | undefined>>();
	const listen = async ({name, spec}: NetworkService): Promise<{close: () => void} | undefined> => {
		if (name === 'broken') throw new Error('a Service that breaks it');
		const place = {address: '127.0.0.1', port: spec.ports?.[0]?.port ?? 0};
		try {
			const tcp: TcpListener = await listeners.tcp(place, socket => {
				socket.write(`${process.pid}\n`);
				socket.pipe(socket);
			});
			const udp = await listeners.udp(place, (data, from) => udp.send(Buffer.from(`${process.pid} ${data.toString()}`), from));
			return {
				close() {
					tcp.close();
					udp.close();
				},
			};
		} catch (error) {
			onProblem(name, `${name}: ${(error as Error).message}`);
			return undefined;
		}
	};
	index.onChange(changed => {
		for (const {key, before, after} of changed) {
			if (before !== undefined && after !== undefined) continue;
			void open.get(key)?.then(each => each?.close());
			open.delete(key);
			if (after?.type === 'service') open.set(key, listen(after));
		}
	});
	return [];
};

await beginDataPlane(openEcho);
