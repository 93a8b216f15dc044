// `troupe port-forward`: ports of this machine that lead to ports of a pod, until the pod is gone or a person has had enough.

import {once} from 'node:events';
import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {AppError} from '../../api/errors.js';
import {formatHostPort} from '../../api/host-port.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {readTarget, resourceOf} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {forward, type PodPort} from '../port-forward/forward.js';
import {mappingOf, portOfPod} from '../port-forward/mapping.js';
import {podOf} from '../port-forward/pod-of.js';

const example = 'troupe port-forward deployment/web 8080:80';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [word, ...ports] = inputs;
	if (word === undefined || ports.length === 0) throw usageError(`which pod, and which ports? as in: ${example}`);
	const {resource, names} = word.includes('/') ? readTarget(word) : {resource: resourceOf('pods'), names: [word]};
	const [name = '', ...others] = names;
	if (others.length > 0) throw usageError(`port-forward takes one pod, as in: ${example}`);
	const mappings = ports.map(mappingOf);
	const address = flags.text('address') ?? '127.0.0.1';
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const {pod, service} = await podOf(client, namespace, resource, name);
		const wanted = mappings.map(({local, remote}) => ({local, port: portOfPod(remote, pod, service)}));
		const open: Server[] = [];
		const sockets = new Set<Socket>();
		try {
			const lost = new Promise<never>((_resolve, reject) => {
				for (const {port} of wanted) {
					const place: PodPort = {namespace, pod: pod.metadata.name, port};
					const lead = (socket: Socket): void => {
						sockets.add(socket.once('close', () => sockets.delete(socket)));
						forward(client, place, socket).catch((error: unknown) =>
							isLasting(error) ? reject(error as Error) : terminal.error(`port ${port}: ${(error as Error).message}`),
						);
					};
					open.push(createServer({allowHalfOpen: true}, lead));
				}
			});
			// It may come before it is waited for.
			lost.catch(() => undefined);
			for (const [index, {local, port}] of wanted.entries()) {
				const at = await listening(open[index], address, local);
				terminal.out(`Forwarding from ${formatHostPort({host: at.address, port: at.port})} -> ${port}\n`);
			}
			// Ctrl-C ends it, as it ends any command.
			return await lost;
		} finally {
			for (const server of open) server.close();
			for (const socket of sockets) socket.destroy();
		}
	});
}

/** The next connection would fare no better: the pod is gone, or the login may not. */
const isLasting = (error: unknown): boolean =>
	error instanceof AppError && ['ERR_NOT_FOUND', 'ERR_BAD_REQUEST', 'ERR_FORBIDDEN', 'ERR_UNAUTHORIZED'].includes(error.code);

async function listening(server: Server | undefined, host: string, port: number): Promise<AddressInfo> {
	if (server === undefined) throw new RangeError('a server for each port');
	try {
		server.listen({host, port});
		await once(server, 'listening');
		return server.address() as AddressInfo;
	} catch (error) {
		const {code, message} = error as NodeJS.ErrnoException;
		const why = code === 'EADDRINUSE' ? 'another program does; :REMOTE takes a port that is free' : message;
		throw failedError(`cannot listen on ${formatHostPort({host, port})}: ${why}`);
	}
}
