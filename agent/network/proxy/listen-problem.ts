// Why nothing is served at a place, and what to do about that.

import {placeText, nameOfServed, type EndpointPlace, type ServedPlace, type ServedPort} from '../services/served-port.js';

export function listenProblem(served: ServedPort, at: EndpointPlace, {kind}: ServedPlace, error: unknown): string {
	const {code, message} = error as NodeJS.ErrnoException;
	const what = `${served.protocol} ${placeText(at)} of Service ${nameOfServed(served)}`;
	if (code === 'EADDRINUSE') return `${what} is taken by another program: stop that, or give the Service another port`;
	if (code === 'EACCES') return `${what} needs leave to listen below port 1024: run the agent as root, or give the Service a higher port`;
	if (code === 'EADDRNOTAVAIL')
		return kind === 'external'
			? `${what} is not served on this node: it has no such address`
			: `${what} is not served: this host has no such address; see --node-port-addresses`;
	if (code === 'EMFILE' || code === 'ENFILE')
		return `${what} is not served: too many open files; raise the limit of open files (ulimit -n)`;
	return `${what} is not served: ${message}`;
}
