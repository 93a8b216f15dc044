// Names of hosts, for connections that are dialled often: the answer is the one from before, and a new one is asked for meanwhile. A name server may
// be behind the very link that is in trouble, a question to it cannot be taken back, and few of them are under way at a time in a process.

import {lookup as ask} from 'node:dns';
import type {LookupFunction} from 'node:net';
import {limits} from '../../api/limits.js';

type Answer = Parameters<Parameters<LookupFunction>[2]>;

/** At most one question per name is under way. */
export function createLookup(resolve: LookupFunction = ask): LookupFunction {
	const known = new Map<string, Answer>();
	const waiting = new Map<string, ((...answer: Answer) => void)[]>();
	return (host, options, callback) => {
		const key = `${host} ${JSON.stringify(options)}`;
		const before = known.get(key);
		const others = waiting.get(key);
		if (before !== undefined) queueMicrotask(() => callback(...before));
		else if (others !== undefined) others.push(callback);
		if (others !== undefined) return;
		waiting.set(key, before === undefined ? [callback] : []);
		resolve(host, options, (...answer) => {
			const [oldest = key] = known.size < limits.serversKept ? [] : known.keys();
			if (answer[0] === null) {
				known.delete(oldest);
				known.set(key, answer);
			}
			const callbacks = waiting.get(key) ?? [];
			waiting.delete(key);
			for (const each of callbacks) each(...answer);
		});
	};
}
