// What `troupe up` was asked for, checked.

/** Where to listen. Port 0 picks a free one. */
export type HostPort = {readonly host: string; readonly port: number};

export type UpOptions = {
	/** Absolute path of TROUPE_HOME. */
	readonly home: string;
	readonly api: HostPort;
	readonly web: HostPort;
	readonly mqtt: HostPort;
	readonly runtime: 'auto' | 'process' | 'simulated';
	readonly store: 'level' | 'memory';
	/** The name of the node in this process. */
	readonly node: string;
	readonly simulatedNodes: number;
	/** To run in the background: `cli/detach.ts` takes such options, `runUp` never sees them. */
	readonly detach: boolean;
};

/**
 * Reads `HOST:PORT`, `[IPV6]:PORT`, `:PORT` (all addresses are never meant by that: it is the default host) or `PORT`.
 * Undefined for anything else.
 */
export function parseHostPort(text: string, defaultHost: string): HostPort | undefined {
	const match = /^(?:(?:\[([0-9a-fA-F:.%]+)\]|([^:[\]\s/]*)):)?(\d{1,5})$/.exec(text);
	const port = Number(match?.[3]);
	if (match === null || port > 65_535) return undefined;
	const host = match[1] ?? match[2] ?? '';
	return {host: host === '' ? defaultHost : host, port};
}

/** `127.0.0.1:6443`, `[::1]:6443`. */
export const formatHostPort = ({host, port}: HostPort): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
