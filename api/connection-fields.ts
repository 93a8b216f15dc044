// Fields of HTTP that concern one connection alone, and have no meaning on the next (RFC 9110 section 7.6.1).

/** Those, and what Node or a proxy of ours says anew. */
export const connectionFields: ReadonlySet<string> = new Set([
	'connection',
	'keep-alive',
	'proxy-authenticate',
	'proxy-authorization',
	'proxy-connection',
	'te',
	'transfer-encoding',
	'upgrade',
]);

/** Nobody takes these away by naming them in Connection. */
export const keptFields: ReadonlySet<string> = new Set(['host', 'content-length', 'authorization', 'cookie']);

/** Fields that Connection names are of that connection, too. `raw`: names and values, one after the other, as Node has them. */
export function namedByConnection(raw: readonly string[]): Set<string> | undefined {
	let names: Set<string> | undefined;
	for (let i = 0; i < raw.length; i += 2) {
		const field = raw[i] ?? '';
		if (field.length !== 10 || field.toLowerCase() !== 'connection') continue;
		for (const word of (raw[i + 1] ?? '').split(',')) {
			const name = word.trim().toLowerCase();
			if (name !== '' && name !== 'keep-alive' && name !== 'close' && !keptFields.has(name)) (names ??= new Set()).add(name);
		}
	}
	return names;
}
