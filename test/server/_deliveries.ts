// Deliveries to functions over records in memory, with a function that answers as a test says.

import {AppError} from '../../api/errors.js';
import {parseDeliveryStoreKey} from '../../api/keys.js';
import {openDeliveries, type OpenDeliveries} from '../../server/functions/deliveries.js';
import type {CallWhole, Delivery, FunctionAnswer} from '../../server/functions/delivery.js';
import {bodyAtLoad} from '../../api/keys.js';
import {openResults} from '../../server/functions/results.js';
import type {StoreRecords} from '../../server/store-records.js';
import {ManualClock} from '../../system/time/manual-clock.js';

export type Called = {
	readonly body: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly answer: (answer: Partial<FunctionAnswer> & {readonly status: number}) => void;
	readonly fail: (error: Error) => void;
};

export function deliveryWorld() {
	const clock = new ManualClock();
	const bodies = new Map<string, string>();
	const published: {readonly topic: string; readonly payload: unknown}[] = [];
	const givenUp: string[] = [];
	const calls: Called[] = [];
	const waiters: (() => void)[] = [];
	let writes = Infinity;
	let exists = true;
	const records: StoreRecords = {
		async put(key, body) {
			await Promise.resolve();
			if (writes-- <= 0) throw new AppError('ERR_STORE', {message: 'the disk is full'});
			if (body === undefined) bodies.delete(key);
			else bodies.set(key, body);
		},
		get: key => Promise.resolve(bodies.get(key)),
	};
	const callWhole: CallWhole = (_fn, {body, headers}) =>
		new Promise((resolve, reject) => {
			calls.push({
				body: body.toString(),
				headers,
				answer: ({status, contentType, body: answered = Buffer.from('null')}) => resolve({status, contentType, body: answered}),
				fail: reject,
			});
			for (const tell of waiters.splice(0)) tell();
		});
	let epoch = 0;
	let open: OpenDeliveries | undefined;
	/** As a new term over the same store; what is open ends. */
	const begin = (): OpenDeliveries => {
		open?.close();
		epoch++;
		const found = {delivery: new Map<string, string>(), result: new Map<string, string>()};
		for (const [key, body] of [...bodies].sort(([a], [b]) => (a < b ? -1 : 1))) {
			const place = parseDeliveryStoreKey(key);
			if (place !== undefined) found[place.holds].set(place.id, bodyAtLoad(key, body));
		}
		const onProblem = (): void => undefined;
		const results = openResults(found.result, {records, clock, onProblem});
		const deliveries = openDeliveries(found.delivery, {
			...{records, clock, callWhole, results, onProblem},
			known: {get: () => (exists ? ({} as never) : undefined)},
			epoch: () => epoch,
			publish: (topic, payload) => void published.push({topic, payload: JSON.parse(payload) as unknown}),
			onGivenUp: ({trigger}, why) => void givenUp.push(`${trigger}: ${why}`),
		});
		deliveries.begin();
		open = deliveries;
		return deliveries;
	};
	return {
		clock,
		bodies,
		published,
		givenUp,
		calls,
		begin,
		takes: (more: number) => void (writes = more),
		isThere: (is: boolean) => void (exists = is),
		/** Resolves with the call of that number, from 0 on. */
		call: async (number: number): Promise<Called> => {
			for (;;) {
				const call = calls[number];
				if (call !== undefined) return call;
				await new Promise<void>(resolve => void waiters.push(resolve));
			}
		},
	};
}

export const aDelivery = (body: string, more: Partial<Delivery> = {}): Delivery => ({
	function: {namespace: 'default', name: 'f'},
	trigger: 'warm',
	queue: undefined,
	by: 'admin',
	contentType: 'application/json',
	headers: {},
	body: Buffer.from(body),
	retries: 2,
	deadLetterTopic: undefined,
	reply: undefined,
	...more,
});
