// A place in the network from where programs serve and ask: this process itself, or one in a network namespace (`spot-program.ts`).

import {createSocket, type Socket as DatagramSocket} from 'node:dgram';
import {connect, createServer, type Server, type Socket} from 'node:net';

export type At = {readonly address: string; readonly port: number};
export type Protocol = 'TCP' | 'UDP';

export type AskOptions = {
	/** The client's own address and port; undefined: as the kernel has it. */
	readonly from?: string;
	readonly fromPort?: number;
};

/** All arguments and answers are JSON. What a program there heard of the kernel is rejected as an Error with that code. */
export type Spot = {
	/** Answers each line with `NAME CLIENT-ADDRESS LINE`; to the end of what a client says with `NAME bye`. */
	readonly serve: (protocol: Protocol, at: At, name: string) => Promise<null>;
	/** Ends the listening, and with `connections` what runs. */
	readonly stop: (protocol: Protocol, at: At, connections: boolean) => Promise<null>;
	/** One line and its answer, on a connection of its own. */
	readonly ask: (protocol: Protocol, at: At, line: string, options?: AskOptions) => Promise<string>;
	/** A connection that stays: its number. */
	readonly open: (at: At, options?: AskOptions) => Promise<number>;
	readonly say: (connection: number, line: string) => Promise<string>;
	/** Ends this direction: what the server says then. */
	readonly finish: (connection: number) => Promise<string>;
	/** Resolves when the other end, or who is between, has ended it. */
	readonly over: (connection: number) => Promise<'ended' | 'cut'>;
};

const patienceMs = 5_000;

export function createSpot(): Spot {
	const servers = new Map<string, {readonly close: (connections: boolean) => void}>();
	const connections = new Map<number, Talk>();
	let last = 0;
	const talk = (connection: number): Talk => {
		const found = connections.get(connection);
		if (found === undefined) throw new Error(`there is no connection ${connection}`);
		return found;
	};
	return {
		async serve(protocol, at, name) {
			servers.set(keyOf(protocol, at), protocol === 'TCP' ? await serveTcp(at, name) : await serveUdp(at, name));
			return null;
		},
		stop(protocol, at, alsoConnections) {
			servers.get(keyOf(protocol, at))?.close(alsoConnections);
			servers.delete(keyOf(protocol, at));
			return Promise.resolve(null);
		},
		async ask(protocol, at, line, options = {}) {
			if (protocol === 'UDP') return askUdp(at, line, options);
			const opened = await talkTo(at, options);
			const answer = await opened.say(line);
			opened.close();
			return answer;
		},
		async open(at, options = {}) {
			last += 1;
			const number = last;
			connections.set(number, await talkTo(at, options));
			return number;
		},
		say: async (connection, line) => talk(connection).say(line),
		finish: async connection => talk(connection).finish(),
		over: async connection => talk(connection).over,
	};
}

const keyOf = (protocol: Protocol, {address, port}: At): string => `${protocol} ${address}:${port}`;

function serveTcp({address, port}: At, name: string): Promise<{readonly close: (connections: boolean) => void}> {
	const open = new Set<Socket>();
	const server: Server = createServer({allowHalfOpen: true, noDelay: true}, socket => {
		open.add(socket);
		const client = socket.remoteAddress ?? '';
		const read = linesOf(line => void socket.write(`${name} ${client} ${line}\n`));
		socket
			.on('data', read)
			.on('end', () => void socket.end(`${name} bye\n`))
			.on('error', () => undefined)
			.on('close', () => void open.delete(socket));
	});
	const close = (connections: boolean): void => {
		server.close();
		if (connections) for (const socket of open) socket.destroy();
	};
	return new Promise((resolve, reject) => {
		server.once('error', reject).listen({host: address, port}, () => resolve({close}));
	});
}

function serveUdp({address, port}: At, name: string): Promise<{readonly close: () => void}> {
	const socket = createSocket('udp4');
	socket.on('message', (data, from) => socket.send(`${name} ${from.address} ${data.toString()}`, from.port, from.address));
	return new Promise((resolve, reject) => {
		socket.once('error', reject).bind(port, address, () => resolve({close: () => void socket.close()}));
	});
}

/** Calls back with each whole line. */
function linesOf(onLine: (line: string) => void): (data: Buffer) => void {
	let rest = '';
	return data => {
		const lines = (rest + data.toString()).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) onLine(line);
	};
}

type Talk = {
	readonly say: (line: string) => Promise<string>;
	readonly finish: () => Promise<string>;
	readonly over: Promise<'ended' | 'cut'>;
	readonly close: () => void;
};

async function talkTo({address, port}: At, {from, fromPort}: AskOptions): Promise<Talk> {
	const socket = connect({
		host: address,
		port,
		allowHalfOpen: true,
		noDelay: true,
		...(from === undefined ? {} : {localAddress: from}),
		...(fromPort === undefined ? {} : {localPort: fromPort}),
	});
	const waiting: {readonly resolve: (line: string) => void; readonly reject: (error: Error) => void}[] = [];
	const fail = (error: Error): void => {
		for (const each of waiting.splice(0)) each.reject(error);
	};
	const over = new Promise<'ended' | 'cut'>(resolve => {
		socket.on('error', () => resolve('cut')).on('end', () => resolve('ended'));
	});
	await timed(
		`a connection to ${address}:${port}`,
		new Promise<void>((resolve, reject) => void socket.once('connect', resolve).once('error', reject)),
		() => socket.destroy(),
	);
	socket.on(
		'data',
		linesOf(line => waiting.shift()?.resolve(line)),
	);
	socket.on('error', fail).on('end', () => fail(withCode('the connection has ended', 'EPIPE')));
	const answer = (): Promise<string> =>
		timed(`an answer of ${address}:${port}`, new Promise((resolve, reject) => void waiting.push({resolve, reject})), () =>
			socket.destroy(),
		);
	return {
		over,
		close: () => socket.destroy(),
		say(line) {
			socket.write(`${line}\n`);
			return answer();
		},
		finish() {
			socket.end();
			return answer();
		},
	};
}

async function askUdp({address, port}: At, line: string, {from, fromPort}: AskOptions): Promise<string> {
	const socket: DatagramSocket = createSocket('udp4');
	const answered = new Promise<string>((resolve, reject) => {
		socket.on('message', data => resolve(data.toString())).on('error', reject);
		socket.bind({address: from ?? '0.0.0.0', port: fromPort ?? 0, exclusive: true}, () =>
			socket.connect(port, address, () => socket.send(line)),
		);
	});
	try {
		return await timed(`an answer of ${address}:${port}`, answered, () => undefined);
	} finally {
		socket.close();
	}
}

async function timed<Value>(what: string, promise: Promise<Value>, onLate: () => void): Promise<Value> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_resolve, reject) => {
		timer = setTimeout(() => {
			onLate();
			reject(withCode(`${what}: not within ${patienceMs / 1_000} s`, 'ETIMEDOUT'));
		}, patienceMs);
	});
	try {
		return await Promise.race([promise, late]);
	} finally {
		clearTimeout(timer);
	}
}

export const withCode = (message: string, code: string): Error => Object.assign(new Error(message), {code});
