// Portions of a stream that came and are not read yet, and how the stream ended. Pure.

import {AppError, type Failure} from '../../api/errors.js';
import type {InspectReply, StreamPortion} from '../../api/inspect.js';

export class UnreadPortions {
	readonly #portions: StreamPortion[] = [];
	#failed: AppError | undefined;
	#isOver = false;
	/** The number of the reply that should come next. */
	#nextSeq = 0;
	#wake = (): void => undefined;

	take(reply: InspectReply): void {
		if (reply.ok) this.#portions.push(this.#counted(reply.seq, reply.value as StreamPortion));
		else this.#failed = isForgotten(reply.error) ? new AppError('ERR_NOT_REACHABLE', {message: forgotten}) : AppError.of(reply.error);
		if (reply.end) this.#isOver = true;
		this.#wake();
	}

	/** Nothing will come any more, for this reason. */
	fail(error: AppError): void {
		this.#failed = error;
		this.end();
	}

	/** Nothing more is wanted. */
	end(): void {
		this.#isOver = true;
		this.#wake();
	}

	/** The next portion, as soon as it is there; undefined: there is none any more. Throws why the stream failed, once what came before is read. */
	async next(): Promise<StreamPortion | undefined> {
		for (;;) {
			const portion = this.#portions.shift();
			if (portion !== undefined) return portion;
			if (this.#failed !== undefined) throw this.#failed;
			if (this.#isOver) return undefined;
			await new Promise<void>(resolve => (this.#wake = resolve));
		}
	}

	/** The broker drops what a slow reader does not take. */
	#counted(seq: number, portion: StreamPortion): StreamPortion {
		const isGap = seq > this.#nextSeq;
		this.#nextSeq = seq + 1;
		return isGap ? {...portion, dropped: portion.dropped + 1} : portion;
	}
}

/** A stream that the server does not have: another one has begun to lead. */
const isForgotten = ({code, details}: Failure): boolean => code === 'ERR_NOT_FOUND' && details['resource'] === 'streams';

const forgotten = 'another server leads';
