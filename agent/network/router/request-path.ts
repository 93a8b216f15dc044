// What a request asks for, from its request line and its Host: checked, and in the one form in which routes are compared.

export type RequestTarget = {
	/** Small, without port and final dot; an IPv6 address in brackets. */
	readonly host: string;
	/** As the client wrote it, port and all: what the service is told. */
	readonly authority: string;
	/** Path and query as they are sent on. */
	readonly target: string;
	/** The path alone, as routes are compared with it. */
	readonly path: string;
};

/** Or why the request is refused. */
export type ReadTarget = RequestTarget | {readonly refusal: string};

const authorityForm = /^(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,254})(?::(\d{0,5}))?$/;
const absoluteForm = /^https?:\/\/([^/?#]*)([^#]*)$/i;

/** `host`: the Host header; undefined where there is none, as HTTP/1.0 allows. */
export function readTarget(url: string, host: string | undefined): ReadTarget {
	const absolute = url.startsWith('/') ? undefined : absoluteForm.exec(url);
	if (absolute === null) return {refusal: 'the request target is neither a path nor a URL'};
	const authority = absolute?.[1] ?? host ?? '';
	const name = authority === '' ? '' : authorityForm.exec(authority)?.[1];
	if (name === undefined) return {refusal: 'the host name is none'};
	const rest = absolute?.[2] ?? url;
	const target = rest.startsWith('/') ? rest : `/${rest}`;
	const query = target.search(/[?#]/);
	const path = comparablePath(query < 0 ? target : target.slice(0, query));
	// Who answers would climb: what was asked of one service could reach the path of another.
	if (path.includes('/.') && /\/\.{1,2}(\/|$)/.test(path)) return {refusal: 'the path has segments of dots'};
	return {host: hostOf(name), authority, target, path};
}

const hostOf = (name: string): string => {
	const small = name.toLowerCase();
	return small.endsWith('.') ? small.slice(0, -1) : small;
};

/** What need not be escaped is not, and what is not ASCII is: `/%61pi` is `/api`. RFC 3986 section 6.2.2. */
export function comparablePath(path: string): string {
	const ascii = /[^\x21-\x7e]/.test(path) ? path.replace(/[^\x21-\x7e]+/g, escaped) : path;
	if (!ascii.includes('%')) return ascii;
	return ascii.replace(/%[0-9a-fA-F]{2}/g, code => {
		const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
		return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase();
	});
}

const escaped = (text: string): string =>
	Buffer.from(text).reduce((all, byte) => `${all}%${byte.toString(16).toUpperCase().padStart(2, '0')}`, '');
