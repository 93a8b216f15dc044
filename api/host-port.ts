// A host and a port in one word.

/** Where to listen. Port 0 picks a free one. */
export type HostPort = {readonly host: string; readonly port: number};

/** `127.0.0.1:6443`, `[::1]:6443`. */
export const formatHostPort = ({host, port}: HostPort): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);
