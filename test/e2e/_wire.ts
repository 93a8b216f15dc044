// A wire between agents and a broker that can be cut, held or frozen, as a whole or one connection of one agent: it reads the client
// id as it passes by.

import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import type {ExecutionContext} from 'ava';

export type What = 'control' | 'bulk' | 'beat';

export type Wire = {
	readonly port: number;
	/** Ends what goes through now, or only this connection of it; what comes next goes through again. The number of ends. */
	readonly cut: (what?: What) => number;
	/** The agent's end takes nothing more on this connection, until it is let go on. */
	readonly hold: (what: What) => () => void;
	/** Nothing goes through any more, either way, and nobody is told; nobody else is let in. */
	readonly freeze: () => void;
	/** How often each was tried. */
	readonly connects: Record<What, number>;
	/** Whether it is there and was taken: its agent has sent more than CONNECT. */
	readonly stands: (what: What) => boolean;
};

type Pair = {readonly near: Socket; readonly far: Socket; what: What | undefined; chunks: number};

/** The client id of CONNECT ends with what the connection is for. */
const whatOf = (chunk: Buffer): What | undefined => /\.(control|bulk|beat)\d*\0/.exec(chunk.toString('latin1'))?.[1] as What | undefined;

export async function wireTo(t: ExecutionContext, port: number): Promise<Wire> {
	const pairs = new Set<Pair>();
	const connects = {control: 0, bulk: 0, beat: 0};
	const server: Server = createServer({noDelay: true}, near => {
		const far = connect({port, host: '127.0.0.1', noDelay: true});
		const pair: Pair = {near, far, what: undefined, chunks: 0};
		pairs.add(pair);
		near.once('data', (chunk: Buffer) => {
			pair.what = whatOf(chunk);
			if (pair.what !== undefined) connects[pair.what] += 1;
		});
		near.on('data', () => (pair.chunks += 1));
		for (const [from, to] of [[near, far] as const, [far, near] as const]) {
			from.on('error', () => undefined);
			from.on('close', () => {
				pairs.delete(pair);
				to.destroy();
			});
			from.pipe(to);
		}
	});
	await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
	const those = (what: What | undefined): Pair[] => [...pairs].filter(pair => what === undefined || pair.what === what);
	const cut = (what?: What): number => {
		const ended = those(what);
		for (const pair of ended) {
			pairs.delete(pair);
			pair.near.destroy();
			pair.far.destroy();
		}
		return ended.length;
	};
	t.teardown(() => {
		server.close();
		cut();
	});
	return {
		port: (server.address() as AddressInfo).port,
		cut,
		hold(what) {
			const held = those(what);
			for (const {near, far} of held) far.unpipe(near).pause();
			return () => {
				for (const {near, far} of held) far.pipe(near);
			};
		},
		freeze() {
			server.close();
			for (const {near, far} of pairs) {
				near.unpipe(far).pause();
				far.unpipe(near).pause();
			}
		},
		connects,
		stands: what => those(what).some(({chunks}) => chunks > 1),
	};
}
