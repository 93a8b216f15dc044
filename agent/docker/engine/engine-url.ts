// Where an Engine listens, as people write it: `unix:///var/run/docker.sock`, `tcp://127.0.0.1:2375`.

/** Where a Docker Engine listens when nothing else is said. */
export const defaultEngineUrl = 'unix:///var/run/docker.sock';

export type EngineAddress = {readonly socketPath: string} | {readonly host: string; readonly port: number};

/** As people write it. */
export const engineUrlOf = (address: EngineAddress): string => {
	if ('socketPath' in address) return `unix://${address.socketPath}`;
	const {host, port} = address;
	return `tcp://${host.includes(':') ? `[${host}]` : host}:${port}`;
};

/** Undefined for what is none: another scheme, a relative path, a host without a port. */
export function parseEngineUrl(text: string): EngineAddress | undefined {
	if (text.startsWith('unix://')) {
		const socketPath = text.slice('unix://'.length);
		return socketPath.startsWith('/') && !socketPath.includes('\0') ? {socketPath} : undefined;
	}
	const match = /^(?:tcp|http):\/\/(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9][A-Za-z0-9.-]*)):(\d{1,5})\/?$/.exec(text);
	const host = match?.[1] ?? match?.[2];
	const port = Number(match?.[3]);
	return host === undefined || port < 1 || port > 65_535 ? undefined : {host, port};
}
