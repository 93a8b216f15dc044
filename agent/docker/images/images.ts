// The images of the docker runtime: there before a container starts, and listed.

import {succeeded, type Outcome} from '../../../api/errors.js';
import type {RuntimeEvent} from '../../../actors/node/runtime/runtime-port.js';
import type {NodeSecrets} from '../../../actors/node/runtime/secrets-port.js';
import type {Clock} from '../../../system/time/clock.js';
import type {Handlers} from '../../handlers.js';
import {systemFailure} from '../../os/explained.js';
import type {Engine} from '../engine/engine.js';
import {ensureImage, type EnsureCommand} from './ensure.js';
import {listImages} from './list.js';
import type {PullProgress} from './pull-progress.js';
import {createPulls} from './pulls.js';

export type ImagesOptions = {
	readonly engine: Engine;
	readonly clock: Clock;
	readonly secrets: NodeSecrets;
	/** Hears how far pulls for containers are. */
	readonly onEvent: (event: RuntimeEvent & {readonly type: 'pulling'}) => void;
};

export type Images = {
	readonly handlers: Pick<Handlers, 'image.ensure' | 'image.list'>;
	/** Ends pulls that are under way; what they fetched the Engine keeps. */
	readonly close: () => void;
};

export function createImages({engine, clock, secrets, onEvent}: ImagesOptions): Images {
	const pulls = createPulls({engine, clock});
	const ensuring = {engine, pulls, secrets, onUse: () => undefined};
	return {
		handlers: {
			'image.ensure'(command, done) {
				void answered(
					ensureImage(ensuring, command, progress => onEvent(newsOf(command, progress))),
					done,
				);
			},
			'image.list'(_command, done) {
				void answered(
					listImages(engine).then(images => succeeded({images})),
					done,
				);
			},
		},
		close: pulls.close,
	};
}

const newsOf = ({id, namespace, podName}: EnsureCommand, progress: PullProgress): RuntimeEvent & {readonly type: 'pulling'} => ({
	type: 'pulling',
	id,
	namespace,
	podName,
	...progress,
});

/** What the Engine refuses is an outcome. */
async function answered<Value>(work: Promise<Outcome<Value>>, done: (outcome: Outcome<Value>) => void): Promise<void> {
	done(await work.catch(systemFailure));
}
