// A server that runs for a year must not show a certificate that has ended: it looks once a day, whether it leads or stands by.

import {limits} from '../../../api/limits.js';
import type {Certificate} from '../../../server/gateway.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';

export type Renewal = {
	readonly clock: Pick<Clock, 'after'>;
	/** The certificate to show, made anew where the one that is kept ends soon; undefined: there is no authority that could make one. */
	readonly find: () => Promise<Certificate | undefined>;
	/** Shows it at the doors that are open. */
	readonly show: (certificate: Certificate) => Promise<unknown>;
	readonly onProblem: (problem: unknown) => void;
};

/** Looks again and again, until what is returned is called. */
export function renewDaily({clock, find, show, onProblem}: Renewal): () => void {
	let cancel: Cancel = () => undefined;
	let stopped = false;
	const look = async (): Promise<void> => {
		try {
			const certificate = await find();
			if (stopped) return;
			if (certificate === undefined) onProblem(new Error('there is no authority whose certificates are good for long enough'));
			else await show(certificate);
		} catch (error) {
			onProblem(error);
		}
	};
	const arm = (): void => {
		if (!stopped) cancel = clock.after(limits.certificateLookMs, () => void look().then(arm));
	};
	arm();
	return () => {
		stopped = true;
		cancel();
	};
}
