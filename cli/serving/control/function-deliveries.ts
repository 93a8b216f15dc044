// Deliveries to functions for one term: what the store has of them, who makes them, and who hears of those that are given up.

import {parseDeliveryStoreKey} from '../../../api/keys.js';
import type {ControlPlane} from '../../../server/control-plane.js';
import {openDeliveries, type DeliveriesOptions, type OpenDeliveries} from '../../../server/functions/deliveries.js';
import {openResults} from '../../../server/functions/results.js';
import type {StoreRecords} from '../../../server/store-records.js';
import {quietly} from '../process/log.js';
import type {ServeContext} from '../process/serve.js';
import {givenUpTeller} from './triggers.js';

/** Of a store that is loaded: texts by id. */
export type FoundDeliveries = {
	/** False: the record is of something else. */
	readonly note: (key: string, body: string) => boolean;
	readonly deliveries: Map<string, string>;
	readonly results: Map<string, string>;
};

export function createFoundDeliveries(): FoundDeliveries {
	const deliveries = new Map<string, string>();
	const results = new Map<string, string>();
	return {
		note(key, body) {
			const place = parseDeliveryStoreKey(key);
			if (place === undefined) return false;
			(place.holds === 'delivery' ? deliveries : results).set(place.id, body);
			return true;
		},
		deliveries,
		results,
	};
}

export type FunctionDeliveriesOptions = Pick<DeliveriesOptions, 'callWhole' | 'publish'> & {
	readonly context: ServeContext;
	readonly control: ControlPlane;
	readonly records: StoreRecords;
};

/** From `begin` on they are made. */
export function openFunctionDeliveries(
	found: FoundDeliveries,
	{context, control, records, callWhole, publish}: FunctionDeliveriesOptions,
): OpenDeliveries & {readonly begin: () => void} {
	const {clock} = context.processParts;
	const quiet = quietly(clock);
	const onProblem = (error: unknown): void =>
		quiet('deliveries', () =>
			context.log.warn(error, 'the store does not take, or give, what is delivered to functions; it is tried again'),
		);
	const tellGivenUp = givenUpTeller(control);
	const onGivenUp: DeliveriesOptions['onGivenUp'] = ({function: fn, trigger}, message) =>
		tellGivenUp({target: {plural: 'functions', ...fn}, trigger}, message);
	const results = openResults(found.results, {records, clock, onProblem});
	const deliveries = openDeliveries(found.deliveries, {
		...{records, clock, callWhole, results, publish, onGivenUp, onProblem},
		known: control.index,
		epoch: control.epoch,
	});
	found.deliveries.clear();
	found.results.clear();
	return {
		...deliveries,
		close() {
			deliveries.close();
			results.close();
		},
	};
}
