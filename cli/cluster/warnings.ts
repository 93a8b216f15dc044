// Warnings that come with the answers of a server, each handed on once.

import type {IncomingMessage} from 'node:http';

/** Takes an answer's warnings (RFC 9110's warn-text: `299 - "text"`). Those of a dry run are left for the write that follows. */
export function warningReader(onWarning: (text: string) => void): (answer: IncomingMessage, isDryRun: boolean) => void {
	const told = new Set<string>();
	return ({headersDistinct}, isDryRun) => {
		for (const value of isDryRun ? [] : (headersDistinct['warning'] ?? [])) {
			const text = /^\d{3} \S+ "(.*)"$/.exec(value)?.[1]?.replace(/\\(.)/g, '$1');
			if (text === undefined || told.has(text)) continue;
			told.add(text);
			onWarning(text);
		}
	};
}
