// The address of a Service on a node that may not translate addresses: one of loopback, which every program may listen on.

/**
 * Of the ClusterIP `a.b.c.d` it is `127.(b | 128).c.d`: known without asking anybody, and apart from 127.0.0.0/9, where hosts and pods have
 * theirs. Undefined: it is no IPv4 address.
 */
export function localAddressOf(clusterIP: string): string | undefined {
	const parts = /^\d{1,3}\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(clusterIP)?.slice(1).map(Number);
	if (parts === undefined || parts.some(part => part > 255)) return undefined;
	const [second = 0, third = 0, fourth = 0] = parts;
	return [127, second | 128, third, fourth].join('.');
}
