// How the router of a node asks a server to call a function for one of its clients.

/** `path` with its query, from its first slash on. */
export const routedCallPath = (node: string, namespace: string, name: string, path: string): string =>
	`/troupe/v1/nodes/${node}/functions/${namespace}/${name}${path}`;

/** What a client has sent as `Authorization`: that field is the node's own. */
export const clientAuthorization = 'troupe-authorization';

/** Of an answer: it is the function's, and not one of the server. */
export const answeredHeader = 'troupe-function-answered';

/** Of an answer of a server that does not lead, and so has begun nothing. */
export const standbyHeader = 'troupe-leader';

/** Fields that mean something between router, server and function: nobody else's of these names are passed on. */
export const isOwnField = (name: string): boolean => name.startsWith('troupe-') || name.startsWith('x-troupe-');
