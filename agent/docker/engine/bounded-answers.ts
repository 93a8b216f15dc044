// How large an answer of an Engine may be. docker-modem keeps all of one and makes a text of it, which ends the process when it is too long; so it
// is counted where it comes in.

import http from 'node:http';

declare module 'node:http' {
	// eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- only an interface adds to a class
	interface Agent {
		/** Where a request meets its connection: what agents of all sorts have in common, and the types leave out. */
		addRequest(request: http.ClientRequest, options: object): void;
	}
}

export type AnswerBound = {
	/** What is asked for is a stream, which its reader takes piece by piece: only what an Engine says instead of it is counted. */
	readonly isStream: boolean;
	readonly maxBytes: number;
	/** Called once; the answer is dropped then. */
	readonly onExcess: () => void;
};

/** For the requests of one call. */
export class BoundedAnswers extends http.Agent {
	readonly #bound: AnswerBound;

	constructor(bound: AnswerBound) {
		super();
		this.#bound = bound;
	}

	override addRequest(request: http.ClientRequest, options: object): void {
		const {isStream, maxBytes, onExcess} = this.#bound;
		request.prependOnceListener('response', (response: http.IncomingMessage) => {
			if (isStream && (response.statusCode ?? 0) < 400) return;
			let size = 0;
			response.on('data', (data: Buffer) => {
				size += data.length;
				if (size <= maxBytes || response.destroyed) return;
				response.destroy();
				onExcess();
			});
		});
		super.addRequest(request, options);
	}
}
