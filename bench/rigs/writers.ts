// The commit pipeline alone, with some writers, each of which waits for its answer before it writes again.

import type {ApiObject} from '../../api/object.js';
import {ObjectIndex} from '../../system/index/object-index.js';
import {startPipeline, type Pipeline} from '../../system/commit/pipeline.js';
import type {StoreDriver} from '../../system/store/store.js';
import {systemClock} from '../../system/time/clock.js';
import {systemRandom} from '../../system/time/random.js';
import type {Scope} from '../harness/scope.js';

/** Of a kilobyte, when nobody says otherwise. */
export type Load = {readonly writers: number; readonly ms: number; readonly objectBytes?: number};

/** Writes a second by so many writers, each with one write open. */
export type Writers = (load: Load) => Promise<number>;

const neverFenced = (message: string): never => {
	throw new Error(message);
};

/** A pipeline over that store, which stays its owner's; it stops with the scope. */
export async function openWriters(scope: Pick<Scope, 'defer'>, driver: StoreDriver): Promise<Writers> {
	const pipeline = await new Promise<Pipeline>((resolve, reject) => {
		startPipeline(
			{
				driver,
				index: new ObjectIndex(),
				clock: systemClock,
				random: systemRandom,
				defer: callback => void setImmediate(callback),
				schemaVersionOf: () => 1,
				upgrade: () => neverFenced('there is one schema only'),
				onApplied: () => undefined,
				onFenced: neverFenced,
			},
			outcome => (outcome.ok ? resolve(outcome.value) : reject(new Error(outcome.error.message))),
		);
	});
	scope.defer(() => new Promise<void>(resolve => pipeline.stop(resolve)));
	return load => write(pipeline, load);
}

/** What an object has beside its filler. */
const bareBytes = 240;
const kilobyte = 1_000;

/** An object of about so many bytes as JSON, another one each time. */
export const objectOf = (writer: number, turn: number, bytes = kilobyte): ApiObject => ({
	apiVersion: 'v1',
	kind: 'Pod',
	metadata: {
		name: `pod-${writer}`,
		namespace: 'default',
		uid: `00000000-0000-4000-8000-${String(writer).padStart(12, '0')}`,
		resourceVersion: '',
		generation: turn,
		creationTimestamp: '2020-01-01T00:00:00Z',
	},
	spec: {filler: 'x'.repeat(Math.max(0, bytes - bareBytes)), turn},
});

function write(pipeline: Pipeline, {writers, ms, objectBytes}: Load): Promise<number> {
	const startedAt = performance.now();
	let written = 0;
	let open = writers;
	return new Promise((resolve, reject) => {
		const next = (writer: number): void => {
			pipeline.submit({
				key: `pods/default/pod-${writer}`,
				object: objectOf(writer, ++written, objectBytes),
				done(outcome) {
					if (!outcome.ok) return reject(new Error(outcome.error.message));
					if (performance.now() - startedAt < ms) return next(writer);
					if (--open === 0) resolve((written * 1_000) / (performance.now() - startedAt));
				},
			});
		};
		for (let writer = 0; writer < writers; writer++) next(writer);
	});
}
