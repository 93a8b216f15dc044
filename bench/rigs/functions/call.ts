// One call over HTTP, as a client makes it: to a port or to a socket of this machine.

import {request, type Agent, type RequestOptions} from 'node:http';
import {json} from 'node:stream/consumers';

/** Where it is called. */
export type Callable = Pick<RequestOptions, 'host' | 'port' | 'path' | 'socketPath' | 'headers'>;

export type Called = {
	readonly status: number;
	readonly value: unknown;
	/** From the request to the first bytes of the answer, and to its end. */
	readonly firstByteMs: number;
	readonly tookMs: number;
};

/** On a connection of its own, unless there is an agent. Rejects when there is no answer, or one that is no JSON. */
export function call(where: Callable, params: object, agent: Agent | false = false): Promise<Called> {
	const body = Buffer.from(JSON.stringify(params));
	const headers = {...where.headers, 'content-type': 'application/json', 'content-length': body.length};
	const beganAt = performance.now();
	return new Promise((resolve, reject) => {
		const asked = request({...where, method: 'POST', headers, agent}, answer => {
			const firstByteMs = performance.now() - beganAt;
			json(answer).then(
				value => resolve({status: answer.statusCode ?? 0, value, firstByteMs, tookMs: performance.now() - beganAt}),
				reject,
			);
		});
		asked.once('error', reject);
		asked.end(body);
	});
}

/** The same, of an answer that has to be a good one. */
export async function fineCall(where: Callable, params: object): Promise<Called> {
	const called = await call(where, params);
	if (called.status !== 200) throw new Error(`a call was answered with ${called.status}: ${JSON.stringify(called.value)}`);
	return called;
}
